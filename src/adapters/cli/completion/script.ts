import type { Shell } from '../arguments/completion.js';

/** Each asks the program itself, which knows its commands, and asks the proxy for names. */
const SCRIPTS: { readonly [shell in Shell]: string } = {
  bash: `# kubeproxy completion bash > /etc/bash_completion.d/kubeproxy
_kubeproxy() {
  local IFS=$'\\n'
  COMPREPLY=($(kubeproxy __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _kubeproxy kubeproxy
`,
  zsh: `#compdef kubeproxy
# kubeproxy completion zsh > "\${fpath[1]}/_kubeproxy"
_kubeproxy() {
  local -a found
  found=("\${(@f)$(kubeproxy __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _kubeproxy kubeproxy
`,
  fish: `# kubeproxy completion fish > ~/.config/fish/completions/kubeproxy.fish
complete -c kubeproxy -f -a '(kubeproxy __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** What a shell reads to complete command lines of this program. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}
