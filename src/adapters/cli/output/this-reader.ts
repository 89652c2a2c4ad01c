import { basename, extname } from 'node:path';
import type { Reader } from './reader.js';
import { NO_TERMINAL, PLUGIN } from './reader.js';

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
