import { bundleAnswer } from '../../../application/cluster/node-bundle.js';
import { grouped } from '../texts/cluster/grouped-nodes.js';
import { missingParts, type BundlePart, type NodeBundle } from '../../../application/cluster/node-bundle.js';
import { counted } from '../../../../application/words/counted.js';
import { BundleFolder } from '../dump/bundle-folder.js';
import type { NodesQuestion } from './nodes-question.js';

/** Everything is asked, with a comparison among it. Milliseconds. */
const TIMEOUT = 120_000;

/** What has been written. */
interface Written {
  readonly folder: string;
  readonly nodes: readonly string[];
  /** Nodes of which something is missing. */
  readonly incomplete: readonly { readonly node: string; readonly missing: readonly BundlePart[] }[];
}

/** 0 when all nodes have answered everything, otherwise 1. @throws BundleFolderError */
export async function dumpQuestion(
  path: string,
): Promise<NodesQuestion<NodeBundle, readonly BundlePart[], Written>> {
  const folder = await BundleFolder.open(path);
  return {
    timeout: TIMEOUT,
    shape: bundleAnswer,
    async keep(bundle, node) {
      await folder.write(node, bundle);
      return missingParts(bundle);
    },
    async result(answers, silent) {
      const written: Written = {
        folder: path,
        nodes: answers.map(({ node }) => node),
        incomplete: answers.flatMap(({ node, answer: missing }) =>
          missing.length > 0 ? [{ node, missing }] : [],
        ),
      };
      await folder.writeSummary({ ...written, silent });
      return written;
    },
    lines: ({ folder: place, nodes, incomplete }) => [
      `wrote ${counted(nodes.length, 'node')} into ${place}`,
      ...grouped('incomplete', incomplete, ({ missing }) => `without ${missing.join(', ')}`),
    ],
    exitCode: ({ incomplete }) => (incomplete.length > 0 ? 1 : 0),
  };
}
