import type { ComparedSide } from '../../adapters/cli/arguments/compare.js';
import { formatted } from '../../adapters/cli/output/formatted.js';
import { printError } from '../../adapters/cli/print-error.js';
import { print } from '../../adapters/cli/output/print.js';
import { comparisonLines, type ComparisonResult } from '../../adapters/cli/texts/comparison.js';
import { dumpSides } from '../../adapters/compare/dump-sides.js';
import { kernelSides } from '../../adapters/compare/kernel-sides.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import { exitCode, familyReport } from '../../application/compare/comparison-report.js';
import { ComparisonError } from '../../application/compare/comparison-error.js';
import type { FamilySides } from '../../application/compare/family-sides.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ComparedNode } from '../../domain/compare/clients.js';
import { rangeOf } from '../../domain/net/address-ranges.js';
import { parseCidr } from '../../domain/net/cidr.js';
import { familyOf, IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Asked } from '../../diagnostics/bootstrap/asked.js';
import { NodeAddresses } from '../node/local-addresses.js';
import { plannedSides, type KnownNode } from './planned-sides.js';

/** Prints what two sets of rules do differently. 0 if nothing, 1 if something, 2 if something is not known. */
export async function compare(asked: Asked<'compare'>, logger: Logger): Promise<number> {
  const { sides, expected, output } = asked.request;
  const [one, other] = [await readSide(sides[0], asked, logger), await readSide(sides[1], asked, logger)];
  for (const problem of new Set([...one.problems, ...other.problems])) printError(`ignored: ${problem}`);
  const node = one.node ?? other.node ?? machine(logger);
  const compared = compareFamilies(
    [one.families, other.families],
    node,
    asked.configuration.clusterCIDR,
    new Set(expected),
  );
  const names = [nameOf(sides[0]), nameOf(sides[1])] as const;
  await print(formatted(output, { sides: names, ...compared }, comparisonLines));
  return exitCode(compared.families);
}

/**
 * Compares each family that both sides have.
 * @param expected names of known differences that do not count
 * @throws ComparisonError if there is no such family
 */
export function compareFamilies(
  [one, other]: readonly [FamilySides, FamilySides],
  node: KnownNode,
  clusterCIDRs: readonly string[],
  expected: ReadonlySet<string>,
): Pick<ComparisonResult, 'families' | 'notes'> {
  const compared = IP_FAMILIES.filter((family) => one[family] && other[family]);
  if (compared.length === 0)
    throw new ComparisonError(
      `the two sides have no IP family in common: one has ${familiesIn(one)}, the other ${familiesIn(other)}; compare rules of the same family, and give all files of a dump at once, separated by commas`,
    );
  return {
    families: compared.map((family) =>
      familyReport([one[family]!, other[family]!], comparedNode(node, clusterCIDRs, family), expected),
    ),
    notes: [
      `the node's own addresses are taken to be ${node.localAddresses.join(', ')}`,
      ...IP_FAMILIES.filter((family) => !compared.includes(family)).map(
        (family) => `${family} is not compared: a side has no rules of it`,
      ),
    ],
  };
}

interface ReadSide {
  readonly families: FamilySides;
  /** Where the side tells. */
  readonly node?: KnownNode;
  readonly problems: readonly string[];
}

async function readSide(side: ComparedSide, asked: Asked<'compare'>, logger: Logger): Promise<ReadSide> {
  switch (side.kind) {
    case 'kernel':
      return { families: await kernelSides(supportedFamilies()), problems: [] };
    case 'dump':
      return { families: dumpSides(side.paths), problems: [] };
    case 'plan':
      return plannedSides(asked, side.mode, asked.request.sides.some(isKernel), logger);
  }
}

function familiesIn(sides: FamilySides): string {
  return IP_FAMILIES.filter((family) => sides[family]).join(' and ') || 'none';
}

function isKernel({ kind }: ComparedSide): boolean {
  return kind === 'kernel';
}

function nameOf(side: ComparedSide): string {
  switch (side.kind) {
    case 'kernel':
      return 'kernel';
    case 'dump':
      return side.paths[0]!;
    case 'plan':
      return 'plan';
  }
}

function machine(logger: Logger): KnownNode {
  const addresses = new NodeAddresses(new SystemClock(), logger);
  try {
    return { localAddresses: addresses.list(), podCIDRs: [] };
  } finally {
    addresses.close();
  }
}

function comparedNode(
  { localAddresses, podCIDRs }: KnownNode,
  clusterCIDRs: readonly string[],
  family: IpFamily,
): ComparedNode {
  const ranges = (texts: readonly string[]) =>
    texts.flatMap((text) => {
      const cidr = parseCidr(text);
      return cidr?.family === family ? [rangeOf(cidr)] : [];
    });
  return {
    family,
    localAddresses: new Set(localAddresses.filter((address) => familyOf(address) === family)),
    podNetworks: ranges(podCIDRs),
    clusterNetworks: ranges(clusterCIDRs),
  };
}
