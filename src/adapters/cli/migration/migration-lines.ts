import { named } from '../texts/cluster/grouped-nodes.js';
import type { MigrationReport, NodeReport } from '../../../application/migration/migration-report.js';
import { counted } from '../../../application/words/counted.js';
import { getOrMake } from '../../../domain/model/get-or-make.js';
import { append } from '../../../domain/model/grouped.js';
import { verdictWords } from '../../../domain/migration/verdict.js';
import { columns } from '../output/columns.js';

/** A column of the table; left out where no node has anything to say. */
interface Column {
  readonly header: string;
  readonly cell: (node: NodeReport) => string;
}

const OUTCOMES: Readonly<Record<NodeReport['end'], string>> = {
  checked: '',
  there: 'there already',
  moved: 'moved',
  untouched: 'untouched',
  'went back': 'went back',
  stuck: 'stuck',
};

const COLUMNS: readonly Column[] = [
  { header: 'NODE', cell: ({ node }) => node },
  { header: 'PROGRAM', cell: ({ program }) => program },
  { header: 'VERSION', cell: ({ version }) => version },
  { header: 'MODE', cell: ({ mode }) => mode },
  { header: 'KERNEL', cell: ({ facts }) => facts?.kernel ?? '-' },
  { header: 'IPTABLES', cell: ({ facts }) => facts?.iptables ?? '-' },
  { header: 'IPVS', cell: ({ ipvs }) => ipvs.join(', ') },
  { header: 'LEFTOVERS', cell: ({ leftovers }) => leftovers.join(', ') },
  { header: 'WOULD CHANGE', cell: ({ verdict }) => (verdict ? verdictWords(verdict) : 'not known') },
  { header: 'OUTCOME', cell: ({ end }) => OUTCOMES[end] },
];
const SHOWN = 10;

/** One table of all nodes, and below it what is said of several together. @param isWide everything */
export function migrationLines(
  { to, mode, nodes, obstacles }: MigrationReport,
  isWide: boolean,
): readonly string[] {
  const target = to === 'kube-proxy' ? `kube-proxy in mode ${mode}` : `mode ${mode}`;
  return [
    ...tableLines(nodes),
    ...differenceLines(nodes, isWide),
    ...saidLines('known difference ', nodes, ({ verdict }) =>
      (verdict?.known ?? []).map(({ name, sentence }) => `${name}: ${sentence}`),
    ),
    ...limited(
      saidLines('not understood: ', nodes, ({ verdict }) => verdict?.unknowns ?? []),
      isWide,
    ),
    ...saidLines(`not with ${target}: `, nodes, ({ lost }) => lost),
    ...saidLines('', nodes, ({ reason, end }) =>
      reason === undefined ? [] : [`${end === 'checked' ? 'not known' : end}: ${reason}`],
    ),
    ...limited(
      saidLines('note: ', nodes, ({ notes }) => notes),
      isWide,
    ),
    ...obstacles.flatMap(({ problem, commands }) => [
      `before nodes can be moved: ${problem}`,
      ...commands.map((command) => `  ${command}`),
    ]),
  ];
}

function tableLines(nodes: readonly NodeReport[]): readonly string[] {
  const shown = COLUMNS.filter(({ cell }) => nodes.some((node) => cell(node) !== ''));
  return columns(
    shown.map(({ header }) => header),
    nodes.map((node) => shown.map(({ cell }) => cell(node) || '-')),
  );
}

/** By Service: on which nodes, and an example. */
function differenceLines(nodes: readonly NodeReport[], isWide: boolean): readonly string[] {
  const services = new Map<string, { readonly nodes: Set<string>; readonly examples: string[][] }>();
  for (const { node, verdict } of nodes)
    for (const { service, packet, now, then } of verdict?.differences ?? []) {
      const its = getOrMake(services, service, () => ({ nodes: new Set<string>(), examples: [] }));
      its.nodes.add(node);
      its.examples.push([`    ${node}: ${packet}`, `      now:  ${now}`, `      then: ${then}`]);
    }
  const lines = [...services].map(([service, { nodes: on, examples }]) => {
    const shown = isWide ? examples : examples.slice(0, 1);
    const more = examples.length - shown.length;
    return [
      `  ${service}: ${counted(on.size, 'node')}: ${named([...on])}`,
      ...shown.flat(),
      ...(more > 0 ? [`    … ${more} more; -o wide shows all`] : []),
    ];
  });
  const shown = isWide ? lines : lines.slice(0, SHOWN);
  const left = lines.length - shown.length;
  return [...shown.flat(), ...(left > 0 ? [`  … ${left} more Services; -o wide shows all`] : [])];
}

/** What is said of nodes, each once, with those that it is said of. */
function saidLines(
  label: string,
  nodes: readonly NodeReport[],
  said: (node: NodeReport) => readonly string[],
): readonly string[] {
  const nodesOf = new Map<string, string[]>();
  for (const each of nodes) for (const text of said(each)) append(nodesOf, text, each.node);
  return [...nodesOf].map(([text, on]) => `${label}${text} (${named(on)})`);
}

function limited(lines: readonly string[], isWide: boolean): readonly string[] {
  if (isWide || lines.length <= SHOWN) return lines;
  return [...lines.slice(0, SHOWN), `… ${lines.length - SHOWN} more; -o wide shows all`];
}
