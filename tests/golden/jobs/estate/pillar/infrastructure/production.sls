#!yaml
components:
  gallery: {recipe: gallery}
