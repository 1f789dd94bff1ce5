from base import Base


class Plain(Base):
    pass
