/** The command `version`: the versions of this program and of the proxy on this node. */

import type { Invocation } from '../options.js';
import { Option } from 'commander';
import { rejectOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputOptions } from '../options.js';
import { statusAnswer, type ProxyStatus } from '../../../application/status/proxy-status.js';
import { formatted, print } from '../output.js';
import { QueryError, RunningProxy } from '../running-proxy.js';

interface VersionOptions extends OutputOptions {
  readonly client?: boolean;
}

/** Which program this is, and which the proxy. */
export const versionCommand = subcommand({
  name: 'version',
  description: 'Show the version of this program, and of the proxy running on this node.',
  usage: '[flags]',
  options: [new Option('--client', 'Only of this program; nobody is asked.'), ...outputOptions],
  request(operands, { client = false, output }: VersionOptions) {
    rejectOperands(operands, 'kubeproxy version');
    return { isClientOnly: client, output };
  },
});

/** What this program is. */
interface ClientVersion {
  readonly program: string;
  /** The release of Kubernetes as which it behaves. */
  readonly kubernetes: string;
  /** The commit that it was built from; empty: unknown. */
  readonly commit: string;
  readonly node: string;
  /** `linux/amd64` */
  readonly platform: string;
}

interface Versions {
  readonly client: ClientVersion;
  readonly proxy?: ProxyStatus['versions'] & { readonly mode: string };
}

/**
 * Prints what this program is, and what the proxy running on this node.
 * @throws QueryError without an answer, after the first
 */
export async function version(
  { request, configuration }: Invocation<typeof versionCommand>,
  client: ClientVersion,
): Promise<number> {
  if (request.isClientOnly) {
    await print(formatted<Versions>(request.output, { client }, versionLines));
    return 0;
  }
  try {
    const proxy = RunningProxy.at(configuration.metricsBindAddress);
    const { versions, mode } = await proxy.query('/debug/status', statusAnswer);
    await print(formatted<Versions>(request.output, { client, proxy: { ...versions, mode } }, versionLines));
    return 0;
  } catch (error) {
    if (error instanceof QueryError)
      await print(formatted<Versions>(request.output, { client }, versionLines));
    throw error;
  }
}

function versionLines({ client, proxy }: Versions): readonly string[] {
  const built = client.commit === '' ? '' : `, built from ${client.commit.slice(0, 12)}`;
  const lines = [
    `client: ${client.program} for Kubernetes ${client.kubernetes}, Node ${client.node}, ${client.platform}${built}`,
  ];
  if (!proxy) return lines;
  const { program, kubernetes, nodejs, kernel, mode } = proxy;
  const level = kubernetes === undefined ? '' : ` for Kubernetes ${kubernetes}`;
  return [...lines, `proxy:  ${program}${level}, Node ${nodejs}, mode ${mode}, Linux ${kernel}`];
}
