import { NamedError } from '../../domain/model/named-error.js';

/** The command line cannot be understood. The caller prints the sentence and where help is; a command ends with `ExitCode.usage`. */
export class UsageError extends NamedError {
  /** @param asked the command whose help lists the valid usage, as it was called: `kubeproxy explain` */
  constructor(
    message: string,
    readonly asked: string = '',
  ) {
    super(message);
  }

  /** The message, which begins with the command: `kubeproxy diff takes …`, `kubeproxy diff: unknown flag …`. */
  get sentence(): string {
    const { message, asked } = this;
    const name = `${asked.split(' ').at(-1)!} `;
    if (message.startsWith(`"${asked}" `)) return message;
    return message.startsWith(name) ? `${asked} ${message.slice(name.length)}` : `${asked}: ${message}`;
  }
}

/**
 * For what takes none. Empty ones are ignored, as kube-proxy does.
 * @param command as the message names it
 * @throws UsageError
 */
export function rejectOperands(operands: readonly string[], command = 'kube-proxy'): void {
  if (operands.some((operand) => operand !== '')) {
    throw new UsageError(`"${command}" does not take any arguments, got [${operands.join(' ')}]`);
  }
}
