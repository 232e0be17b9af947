#!yaml
