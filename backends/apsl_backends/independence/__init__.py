"""Independence tests: d-separation, G², χ², Fisher's z, and symmetrical uncertainty."""
