import { Option } from 'commander';
import { refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputOptions } from '../command-line/options.js';

interface VersionOptions extends OutputOptions {
  readonly client?: boolean;
}

/** Which program this is, and which the proxy. */
export const version = subcommand({
  name: 'version',
  description: 'Show the version of this program, and of the proxy running on this node.',
  usage: '[flags]',
  options: [new Option('--client', 'Only of this program; nobody is asked.'), ...outputOptions],
  request(operands, { client = false, output }: VersionOptions) {
    refuseOperands(operands, 'kubeproxy version');
    return { isClientOnly: client, output };
  },
});
