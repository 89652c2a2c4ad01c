/** Who reads what a command prints. */
export interface Reader {
  /** The program, as it was called. */
  readonly program: string;
  /** Columns of the terminal. */
  readonly width: number;
}

/** The name of the plugin for kubectl. */
export const PLUGIN = 'kubectl kubeproxy';

/** Somebody without a terminal. */
export const NO_TERMINAL: Reader = { program: 'kubeproxy', width: 100 };
