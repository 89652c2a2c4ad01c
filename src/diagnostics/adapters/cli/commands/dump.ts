/** The command `dump`: a support bundle of the proxy on this node, and the folder that bundles are written to. */

import type { Invocation } from '../options.js';
import { Option } from 'commander';
import { UsageError, refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { subcommand } from '../options.js';
import { printable, printableJson, printableLines } from '../../../../adapters/process/quote.js';
import { missingParts, type NodeBundle, BUNDLE_PARTS } from '../../../application/cluster/node-bundle.js';
import { RunningProxy, QueryError, COMPARISON } from '../running-proxy.js';
import { jsonLine, print } from '../output.js';
import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import { servicesAnswer } from '../../../application/status/service-row.js';
import { anything, fields } from '../../../../domain/shape.js';
import { statusAnswer } from '../../../application/status/proxy-status.js';
import { timeText } from '../../../../domain/model/text.js';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../../../application/error-message.js';
import { NamedError } from '../../../../domain/model/named-error.js';

/** Where to write a support bundle: a folder, or standard output. */
export const dumpCommand = subcommand({
  name: 'dump',
  description:
    'Collect what the proxy running on this node says about itself, for those who are to help: status, Services, differences, history, configuration and metrics.',
  usage: '[--to FOLDER] [flags]',
  options: [
    new Option(
      '--to <folder>',
      'Write a file for each part into this new folder, instead of JSON to standard output.',
    ),
  ],
  request(operands, { to }: { readonly to?: string }) {
    refuseOperands(operands, 'kubeproxy dump');
    if (to === '') throw new UsageError('dump got an empty path; name a new folder with --to');
    return { to };
  },
});

/**
 * Collects a support bundle of the proxy on this node, and writes it into a folder, or prints it as one line of JSON. 1
 * when a part is missing.
 */
export async function dump({ request, configuration }: Invocation<typeof dumpCommand>): Promise<number> {
  const { to } = request;
  const folder = to === undefined ? undefined : await BundleFolder.open(to);
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const bundle = await collectBundle(proxy, Date.now());
  if (folder) {
    await folder.write(bundle.node, bundle);
    await print(`wrote ${printable(bundle.node)} into ${to}\n`);
  } else await print(jsonLine(bundle));
  return missingParts(bundle).length > 0 ? 1 : 0;
}

/** The name is kube-proxy's. */
const configuration = fields({ 'kubeproxy.config.k8s.io': anything });

/**
 * Asks the proxy running on this node everything, one after the other.
 * @throws QueryError when it does not answer how it is; other parts may be missing
 */
async function collectBundle(proxy: RunningProxy, now: number): Promise<NodeBundle> {
  const status = await proxy.query('/debug/status', statusAnswer);
  return {
    node: status.node,
    version: status.versions.program,
    collectedAt: timeText(now),
    parts: {
      status,
      services: await partOf(proxy.query('/debug/services', servicesAnswer)),
      diff: await partOf(proxy.query('/debug/diff', differenceAnswer, COMPARISON)),
      history: await partOf(proxy.query('/debug/history', historyAnswer)),
      configz: await partOf(proxy.query('/configz', configuration)),
      metrics: await partOf(proxy.text('/metrics')),
    },
  };
}

async function partOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof QueryError) return { error: error.message };
    throw error;
  }
}

/** The folder for bundles cannot be used. */
export class BundleFolderError extends NamedError {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`cannot write to ${path}: ${reason}; name a new or an empty folder with --to`, options);
  }
}

/** A folder with one folder for each node. Only its owner can read it. */
export class BundleFolder {
  private constructor(private readonly path: string) {}

  /** Makes the folder. @throws BundleFolderError, if it is there and not empty, too */
  static async open(path: string): Promise<BundleFolder> {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      if ((await readdir(path)).length === 0) return new BundleFolder(path);
    } catch (error) {
      throw new BundleFolderError(path, errorMessage(error), { cause: error });
    }
    throw new BundleFolderError(path, 'it is not empty');
  }

  /** Writes the bundle of a node, a file for each part. @throws BundleFolderError */
  async write(node: string, { version, collectedAt, parts }: NodeBundle): Promise<void> {
    const folder = join(this.path, fileName(node));
    await this.tryTo(async () => {
      await mkdir(folder, { mode: 0o700 });
      await writeFile(join(folder, 'version.txt'), printableLines(`${version}\ncollected ${collectedAt}\n`));
      for (const name of BUNDLE_PARTS) {
        const part = parts[name];
        if (typeof part === 'string') await writeFile(join(folder, `${name}.txt`), printableLines(part));
        else await writeFile(join(folder, `${name}.json`), json(part));
      }
    });
  }

  /** Writes which nodes are missing, and why. @throws BundleFolderError */
  writeSummary(summary: object): Promise<void> {
    return this.tryTo(() => writeFile(join(this.path, 'summary.json'), json(summary)));
  }

  private async tryTo(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new BundleFolderError(this.path, errorMessage(error), { cause: error });
    }
  }
}

function json(value: unknown): string {
  return `${printableJson(JSON.stringify(value, undefined, 2) ?? 'null')}\n`;
}

/** Whatever a node is called, its folder is in the bundle's. */
function fileName(node: string): string {
  return node.replace(/[^\w.-]|^\.+/g, '_') || '_';
}
