import type { ClusterComparison, ComparedNode } from '../../../application/cluster/cluster-comparison.js';
import { counted } from '../../../../application/words.js';
import { append } from '../../../../domain/model/maps.js';
import { columns } from '../output.js';
import { packetWords } from '../commands/compare.js';
import { named } from './texts.js';

/** Of Services, and of other lines. */
const SHOWN = 10;
/** Names of Services in one cell. */
const NAMED = 3;

/** One table of all nodes, and below it what several of them have in common. @param isWide everything */
export function clusterComparisonLines({ nodes }: ClusterComparison, isWide: boolean): readonly string[] {
  return [
    ...columns(
      ['NODE', 'KERNEL', 'IPTABLES', 'RULES', 'WOULD CHANGE'],
      nodes.map((node) => [node.node, node.kernel, node.iptables, rulesText(node), changes(node)]),
    ),
    ...limited(differenceLines(nodes, isWide), isWide).flat(),
    ...commonLines('known difference ', nodes, ({ knownDifferences }) =>
      knownDifferences.map(({ name, sentence }) => `${name}: ${sentence}`),
    ),
    ...limited(
      commonLines('not understood: ', nodes, ({ unknownRules }) => unknownRules),
      isWide,
    ),
    ...commonLines('schedulers in use: ', nodes, ({ schedulers }) =>
      schedulers.length > 0 ? [schedulers.join(', ')] : [],
    ),
    ...limited(
      commonLines('note: ', nodes, ({ notes }) => notes),
      isWide,
    ),
  ];
}

/** The places with rules of a service proxy. */
function rulesText({ rules }: ComparedNode): string {
  return [...new Set(rules.map(({ place }) => place))].join(', ') || 'none';
}

function changes(node: ComparedNode): string {
  const { knownDifferences: known, expectedDifferences: expected, unknownRules: unknowns } = node;
  const { differences, omitted, obstacle } = node;
  const services = [...new Set(differences.map(({ service }) => service))];
  const more = services.length > NAMED || omitted > 0 ? ' and more' : '';
  const all = [
    ...(obstacle === undefined ? [] : [`cannot run: ${obstacle}`]),
    ...(services.length > 0 ? [`differs for ${services.slice(0, NAMED).join(', ')}${more}`] : []),
    ...(known.length > 0 ? [`known differences ${known.map(({ name }) => name).join(', ')}`] : []),
    ...(unknowns.length > 0 ? [`not understood: ${unknowns.length}`] : []),
  ];
  return all.join('; ') || (expected.length > 0 ? 'only expected differences' : 'nothing');
}

/** By Service: the nodes, and an example. */
function differenceLines(nodes: readonly ComparedNode[], isWide: boolean): readonly (readonly string[])[] {
  const services = new Map<string, { readonly node: string; readonly lines: readonly string[] }[]>();
  for (const { node, differences } of nodes)
    for (const difference of differences) {
      const [now, planned] = difference.outcomes;
      const lines = [
        `    ${node}: ${packetWords(difference)}`,
        `      now:  ${now}`,
        `      then: ${planned}`,
      ];
      append(services, difference.service, { node, lines });
    }
  return [...services].map(([service, examples]) => {
    const on = [...new Set(examples.map(({ node }) => node))];
    const shown = isWide ? examples : examples.slice(0, 1);
    const more = examples.length - shown.length;
    return [
      `  ${service}: ${counted(on.length, 'node')}: ${named(on)}`,
      ...shown.flatMap(({ lines }) => lines),
      ...(more > 0 ? [`    … ${more} more; -o wide shows all`] : []),
    ];
  });
}

/** Each text once, with the nodes that it is about. */
function commonLines(
  label: string,
  nodes: readonly ComparedNode[],
  textsOf: (node: ComparedNode) => readonly string[],
): readonly string[] {
  const nodesOf = new Map<string, string[]>();
  for (const each of nodes) for (const text of textsOf(each)) append(nodesOf, text, each.node);
  return [...nodesOf].map(([text, on]) => `${label}${text} (${named(on)})`);
}

function limited<Line extends string | readonly string[]>(
  lines: readonly Line[],
  isWide: boolean,
): readonly (Line | string)[] {
  if (isWide || lines.length <= SHOWN) return lines;
  return [...lines.slice(0, SHOWN), `… ${lines.length - SHOWN} more; -o wide shows all`];
}
