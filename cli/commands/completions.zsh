#compdef sig
# Completions of sig for zsh.
_sig() {
  local -a candidates
  local line kind tab=$'\t'
  for line in "${(@f)$(sig __complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    case $line in
      :*) kind=$line ;;
      ?*) candidates+=("${${line%%$tab*}//:/\\:}:${line#*$tab}") ;;
    esac
  done
  (( $#candidates )) && _describe -t words word candidates
  # Of --flag=value the value alone is completed.
  [[ $kind == :* && $PREFIX == --*=* ]] && compset -P '*='
  case $kind in
    :files) _files ;;
    :folders) _path_files -/ ;;
  esac
}
# Autoloaded, this file is the function's body; sourced, it is not.
if [ "$funcstack[1]" = _sig ]; then _sig "$@"; else compdef _sig sig; fi
