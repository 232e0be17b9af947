#compdef eos
# Completion of eos for zsh: every answer comes from `eos complete`, which knows the estate's recipes and components.

_eos() {
    local -a answer described
    local line name
    answer=("${(@f)$(eos complete -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $answer[1] in
        words)
            for line in "${(@)answer[2,-1]}"; do
                name=${${line%%$'\t'*}//(#m)[\\:]/\\$MATCH}
                described+=("$name:${line#*$'\t'}")
            done
            _describe -t words word described
            ;;
        files)
            compset -P '--*='
            _files
            ;;
        directories)
            compset -P '--*='
            _files -/
            ;;
    esac
}

# As a file of $fpath this is the body of the function; read with `source` it must be announced.
if [[ $funcstack[1] == _eos ]]; then
    _eos "$@"
else
    compdef _eos eos
fi
