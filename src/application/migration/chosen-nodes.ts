import { MigrationError } from '../../domain/migration/migration-error.js';
import type { ClusterNode } from '../../domain/migration/proxy-daemon-set.js';

/** Which nodes are meant, and in which order. */
export interface NodeChoice {
  /** By name, in this order; missing: all, by name. */
  readonly names?: readonly string[];
  /** Labels that a node must have; with names, too. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The nodes that are meant. @throws MigrationError if there are none, or one that is named is not there */
export function chosenNodes(
  nodes: readonly ClusterNode[],
  { names, labels }: NodeChoice,
): readonly ClusterNode[] {
  const wanted = Object.entries(labels);
  const fits = (node: ClusterNode) => wanted.every(([key, value]) => node.labels[key] === value);
  const chosen = (names ?? nodes.map(({ name }) => name)).map((name) => {
    const node = nodes.find((one) => one.name === name);
    if (!node) throw new MigrationError(`there is no node ${name} that runs Linux`);
    return node;
  });
  const fitting = [...new Set(chosen)].filter(fits);
  if (fitting.length === 0) throw new MigrationError('no node has these labels');
  return fitting;
}
