/** The command `dump`: a support bundle of the proxy on this node. */

import { ExitCode, exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { Option } from 'commander';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { printError } from '../../../../adapters/cli/print-error.js';
import { counted } from '../../../../application/words.js';
import { timeText } from '../../../../domain/model/text.js';
import { statusAnswer } from '../../../application/status/proxy-status.js';
import {
  archiveName,
  BundleArchive,
  collectParts,
  missingFiles,
  type BundleIndex,
  type NodeBundle,
} from '../../bundle/bundle.js';
import { subcommand } from '../options.js';
import { jsonLine, print } from '../output.js';
import { QueryError, RunningProxy } from '../running-proxy.js';

interface DumpOptions {
  readonly output: 'archive' | 'json';
}

/** Where to write a support bundle, and in which form. */
export const dumpCommand = subcommand({
  name: 'dump',
  description:
    'Collect a support bundle: logs, answers of the proxy, rules, routes and settings of the kernel, without secrets. FILE is a new .tar.gz archive; - is standard output.',
  summary: 'Collect a support bundle.',
  usage: '[FILE] [flags]',
  options: [
    new Option('-o, --output <format>', 'The form; json: the files as JSON on standard output.')
      .choices(['archive', 'json'])
      .default('archive'),
  ],
  request(operands, { output }: DumpOptions) {
    const [file] = operands;
    if (operands.length > 1) throw new UsageError(`dump takes one file, got ${operands.length}`);
    if (file === '')
      throw new UsageError('dump got an empty file name; name a new file, or - for standard output');
    if (file === '-' && output === 'archive' && process.stdout.isTTY)
      throw new UsageError(
        'dump does not write an archive to a terminal; name a file, or redirect the output',
      );
    return { file, output };
  },
});

/**
 * Collects a support bundle of this node. 0 when it is complete, 1 when a part is missing, 3 when no proxy is reachable; the other
 * parts are collected nevertheless.
 * @throws BundleArchiveError
 */
export async function dump(
  {
    request: { file, output },
    configuration,
    nodeName,
  }: Invocation<typeof dumpCommand> & { readonly nodeName: string },
  programVersion: string,
): Promise<number> {
  const time = timeText(Date.now());
  const collect = () => collectNode(configuration.metricsBindAddress, nodeName, programVersion, time);
  if (output === 'json') {
    const { bundle, problem } = await collect();
    await print(jsonLine(bundle));
    if (problem) printError(`Error: ${problem.message}`);
    return exitCode(bundle, problem);
  }
  const archive = await BundleArchive.open(file ?? archiveName(time), { version: programVersion, time });
  try {
    const { bundle, problem } = await collect();
    await archive.add(bundle.node, bundle.files);
    const index = await archive.finish();
    await reportArchive(archive.path, index);
    return exitCode(index, problem);
  } catch (error) {
    await archive.discard();
    throw error;
  }
}

/** The bundle of this node, and why its proxy is not reachable. */
async function collectNode(
  metricsBindAddress: string,
  nodeName: string,
  version: string,
  time: string,
): Promise<{ readonly bundle: NodeBundle; readonly problem?: QueryError }> {
  const { nodeParts } = await import('../../bundle/node-parts.js');
  let proxy: RunningProxy | QueryError;
  let node = nodeName;
  try {
    proxy = RunningProxy.at(metricsBindAddress);
    ({ node } = await proxy.query('/debug/status', statusAnswer));
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    proxy = error;
  }
  const files = await collectParts(nodeParts(proxy, version));
  return { bundle: { node, version, time, files }, ...(proxy instanceof QueryError && { problem: proxy }) };
}

function exitCode(index: BundleIndex, problem: QueryError | undefined): number {
  if (problem) return ExitCode.notReachable;
  return exitCodeOf(missingFiles(index).length > 0);
}

/** Prints what was written and what is missing: to standard error if the archive is on standard output. */
export async function reportArchive(path: string, index: BundleIndex): Promise<void> {
  const present = index.files.filter(({ sizeBytes }) => sizeBytes !== undefined);
  const lines = missingFiles(index).map((file) => `missing: ${file.path}: ${file.reason}`);
  if (path === '-') return lines.forEach(printError);
  await print(
    [`wrote ${counted(present.length, 'file')} to ${path}`, ...lines].map((line) => `${line}\n`).join(''),
  );
}
