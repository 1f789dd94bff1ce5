from base import Base


class Wide(Base):
    pass
