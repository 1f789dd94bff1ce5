"""What checks the pages of documentation and makes a site of them."""
