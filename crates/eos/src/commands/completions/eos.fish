# Completion of eos for fish: every answer comes from `eos complete`, which knows the estate's recipes and components.

function __eos_complete
    set -l word (commandline -ct)
    set -l answer (eos complete -- (commandline -opc) "$word" 2>/dev/null)
    set -l flag (string match -r -- '^--[^=]+=' "$word")
    set -l value (string replace -r -- '^--[^=]+=' '' "$word")
    switch "$answer[1]"
        case words
            printf '%s\n' $answer[2..-1]
        case files
            for path in (__fish_complete_path "$value")
                printf '%s\n' "$flag$path"
            end
        case directories
            for path in (__fish_complete_directories "$value")
                printf '%s\n' "$flag$path"
            end
    end
end

complete -c eos -f -a '(__eos_complete)'
