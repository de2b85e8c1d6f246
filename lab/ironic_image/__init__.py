"""The programs of the lab's image of Ironic, with the contract of Metal3's ironic-image."""
