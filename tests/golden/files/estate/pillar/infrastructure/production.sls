#!yaml
components:
  hello: {recipe: hello}
  tuning:
    recipe: tuning
    options: {swappiness: 1, motd: "Tuned \"by\" {{ Eos }}, ümläut"}
  tuning-storage:
    recipe: tuning
    options: {hosts: [node2], domains: [one.example, two.example]}
