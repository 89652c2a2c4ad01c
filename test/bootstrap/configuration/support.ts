import { subcommandsOf } from '../../../src/diagnostics/adapters/cli/subcommands.js';
import { NO_TERMINAL, PLUGIN, type Reader } from '../../../src/adapters/cli/reader.js';
import { parseCommandLine, type CommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { ConfigurationError } from '../../../src/bootstrap/configuration/errors.js';

export const HEADER = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

/** Parses the arguments; the file that `--config f` names holds `file`. */
export function parse(argv: readonly string[], file = '', reader: Reader = NO_TERMINAL): CommandLine {
  const readFile = (path: string): string => {
    if (path !== 'f') throw new Error(`ENOENT: no such file, open '${path}'`);
    return file;
  };
  return parseCommandLine(
    argv,
    { readFile, hostname: () => 'Host-1' },
    reader,
    subcommandsOf(reader.program),
  );
}

/** Parses the arguments of the plugin for kubectl. */
export function parsePlugin(argv: readonly string[]): CommandLine {
  return parse(argv, '', { ...NO_TERMINAL, program: PLUGIN });
}

/** Parses a configuration file given by its body. */
export function parseFile(body: string, ...argv: readonly string[]): CommandLine {
  return parse(['--config', 'f', ...argv], HEADER + body);
}

/** The error that parsing ends with. */
export function failure<E extends Error>(type: new (...args: never[]) => E, run: () => unknown): E {
  try {
    run();
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`expected a ${type.name}`);
}

export function configurationError(run: () => unknown): ConfigurationError {
  return failure(ConfigurationError, run);
}
