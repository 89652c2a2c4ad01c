import { NamedError } from '../../domain/model/named-error.js';

/**
 * The start-up phase that refused the configuration; kube-proxy puts it before the message (docs/internals/spec/configuration.md §1),
 * except for the last phase, running, which has no name.
 */
export type ConfigurationPhase = 'failed complete' | 'initialize logging' | 'failed validate' | '';

/** The configuration cannot be read, decoded or accepted. `problems` has every reason; the caller exits with 1. */
export class ConfigurationError extends NamedError {
  /** @param problems what is wrong, each with the path of its field; duplicates are dropped */
  constructor(
    readonly phase: ConfigurationPhase,
    problems: readonly string[],
  ) {
    const distinct = [...new Set(problems)];
    const all = distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
    super(phase === '' ? all : `${phase}: ${all}`);
    this.problems = distinct;
  }

  readonly problems: readonly string[];
}

/** Not an error: `--help` or `--version` was handled. The caller writes `output` to stdout and exits with `code`. */
export class EarlyExit extends NamedError {
  constructor(
    readonly output: string,
    readonly code: number = 0,
  ) {
    super('nothing more to do');
  }
}
