import { bundleAnswer } from '../../../application/cluster/node-bundle.js';
import {
  answersOf,
  silentOf,
  type NodeReply,
  type SilentNode,
} from '../../../application/cluster/ask-nodes.js';
import { grouped, noAnswerLines } from '../texts/grouped-nodes.js';
import { missingParts, type BundlePart, type NodeBundle } from '../../../application/cluster/node-bundle.js';
import { counted } from '../../../application/words/counted.js';
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
  readonly silent: readonly SilentNode[];
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
    async result(replies) {
      const written = writtenOf(path, replies);
      await folder.writeSummary(written);
      return written;
    },
    lines: writtenLines,
    exitCode: ({ incomplete, silent }) => (incomplete.length + silent.length > 0 ? 1 : 0),
  };
}

function writtenOf(folder: string, replies: readonly NodeReply<readonly BundlePart[]>[]): Written {
  const answers = answersOf(replies);
  return {
    folder,
    nodes: answers.map(({ node }) => node),
    incomplete: answers.flatMap(({ node, answer: missing }) =>
      missing.length > 0 ? [{ node, missing }] : [],
    ),
    silent: silentOf(replies),
  };
}

function writtenLines({ folder, nodes, incomplete, silent }: Written): readonly string[] {
  return [
    `wrote ${counted(nodes.length, 'node')} into ${folder}`,
    ...grouped('incomplete', incomplete, ({ missing }) => `without ${missing.join(', ')}`),
    ...noAnswerLines(silent),
  ];
}
