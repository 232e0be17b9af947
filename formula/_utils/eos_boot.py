"""Which start of the machine it is: with each, process ids, ticks and the time since begin anew."""


def id() -> str:  # noqa: A001  called as eos_boot.id
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
