import { NamedError } from '../../../domain/model/named-error.js';

/** How a command in a container ended. */
export interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A command could not be started in its container: there is no such program, or no such container. */
export class CommandStartError extends NamedError {}

interface Status {
  readonly status?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/**
 * The exit code in the Status with which the API server ends an exec (channel 3 of `v4.channel.k8s.io`).
 * @throws CommandStartError with the server's words when nothing has run
 */
export function exitCodeOf(text: string): number {
  const { status, message, details } = JSON.parse(text) as Status;
  if (status === 'Success') return 0;
  const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code === undefined) throw new CommandStartError(message ?? text);
  return Number(code);
}
