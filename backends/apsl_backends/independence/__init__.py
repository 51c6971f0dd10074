"""Independence tests: d-separation, G², χ², the likelihood-ratio test on moments, and symmetrical uncertainty."""
