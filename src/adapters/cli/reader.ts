import { basename, extname } from 'node:path';

/** Who reads what a command prints. */
export interface Reader {
  /** The program, as it was called. */
  readonly program: string;
  /** Columns of the terminal. */
  readonly width: number;
}

/** The name of the plugin for kubectl. */
export const PLUGIN = 'kubectl kubeproxy';

/** A reader without a terminal. */
export const NO_TERMINAL: Reader = { program: 'kubeproxy', width: 100 };

/** Who started this process. */
export function thisReader(): Reader {
  const [, path = ''] = process.argv;
  const called = basename(path, extname(path));
  const { columns } = process.stdout;
  return {
    program: called === 'kubectl-kubeproxy' ? PLUGIN : called || NO_TERMINAL.program,
    width: columns > 0 ? columns : NO_TERMINAL.width,
  };
}
