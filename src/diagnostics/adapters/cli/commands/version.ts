/** The command `version`: the versions of this program and of the proxy on this node. */

import { ExitCode } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { Option } from 'commander';
import { rejectOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputFormat, type OutputOptions } from '../options.js';
import { statusAnswer, versions, type ProxyStatus } from '../../../application/status/proxy-status.js';
import { both, fields, optional, text } from '../../../../domain/shape.js';
import { formatted, print } from '../output.js';
import { QueryError, RunningProxy } from '../running-proxy.js';

interface VersionOptions extends OutputOptions {
  readonly client?: boolean;
}

/** Which program this is, and which the proxy. */
export const versionCommand = subcommand({
  name: 'version',
  description: 'Show the version of this program, and of the proxy running on this node.',
  summary: 'Show the versions of this program and of the proxy.',
  usage: '[flags]',
  options: [new Option('--client', 'Only of this program; no proxy is queried.'), ...outputOptions],
  request(operands, { client = false, output }: VersionOptions) {
    rejectOperands(operands, 'kubeproxy version');
    return { isClientOnly: client, output };
  },
});

/** The version of this program. */
export type ClientVersion = ReturnType<typeof clientVersion>;
export const clientVersion = fields({
  program: text,
  /** The release of Kubernetes as which it behaves. */
  kubernetes: text,
  /** The commit that it was built from; empty: unknown. */
  commit: text,
  nodejs: text,
  /** `linux/amd64` */
  platform: text,
});

type Versions = ReturnType<typeof versionAnswer>;
export const versionAnswer = fields({
  client: clientVersion,
  /** Missing unless a proxy is reachable. */
  proxy: optional(both(versions, fields({ mode: text }))),
});

/**
 * Prints the version of this program, and of the proxy running on this node.
 * @throws QueryError without an answer, after the first
 */
export async function version(
  { request, configuration }: Invocation<typeof versionCommand>,
  client: ClientVersion,
): Promise<number> {
  const { isClientOnly, output } = request;
  if (isClientOnly) return printClientVersion(client, output);
  try {
    const proxy = RunningProxy.at(configuration.metricsBindAddress);
    const status = await proxy.query('/debug/status', statusAnswer);
    const all = { client, proxy: { ...status.versions, mode: status.mode } };
    await print(formatted<Versions>(output, all, versionLines));
    return ExitCode.ok;
  } catch (error) {
    if (error instanceof QueryError) await printClientVersion(client, output);
    throw error;
  }
}

/** Prints the version of this program alone. */
export async function printClientVersion(client: ClientVersion, output: OutputFormat): Promise<number> {
  await print(formatted<Versions>(output, { client }, versionLines));
  return ExitCode.ok;
}

/** For people. */
export function versionLines({ client, proxy }: Versions): readonly string[] {
  const lines = [clientVersionText(client)];
  return proxy ? [...lines, `proxy:  ${proxyVersionText({ mode: proxy.mode, versions: proxy })}`] : lines;
}

/** For people. */
export function clientVersionText({ program, kubernetes, nodejs, platform, commit }: ClientVersion): string {
  const built = commit === '' ? '' : `, built from ${commit.slice(0, 12)}`;
  return `client: ${program} for Kubernetes ${kubernetes}, Node.js ${nodejs}, ${platform}${built}`;
}

/** For people. */
export function proxyVersionText({ versions, mode }: Pick<ProxyStatus, 'versions' | 'mode'>): string {
  const { program, kubernetes, nodejs, kernel } = versions;
  const level = kubernetes === undefined ? '' : ` for Kubernetes ${kubernetes}`;
  return `${program}${level}, Node.js ${nodejs}, ${mode} mode, Linux ${kernel}`;
}
