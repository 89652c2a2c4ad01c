import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import type { NftablesDesiredState } from './desired-state.js';
import { KUBE_PROXY_MAPS } from '../layout/kube-proxy-maps.js';
import { nodeChains, type ChainRules } from '../layout/node-rules.js';
import { NODEPORT_IPS, sourcesSet, STATIC_SETS } from '../layout/sets.js';
import { nodeStructures, type Structure } from '../layout/structure.js';
import type { SetDefinition, SetElement } from '../layout/table.js';
import type { TablePart } from './service-port-rules.js';

/** The whole table as it should be: what a fresh start writes, verification compares with, and plan prints. */
export interface DesiredTable {
  readonly chains: readonly ChainRules[];
  /** The names of named counters. */
  readonly counters: readonly string[];
  readonly sets: readonly DesiredSet[];
  /** Chains and sets to which kube-proxy's maps lead may be there. */
  readonly keepsKubeProxyRules: boolean;
}

export interface DesiredSet {
  readonly set: SetDefinition;
  readonly elements: readonly SetElement[];
  /** The service port of each element; undefined for elements of the node and of shared structures. */
  readonly owners: readonly (ServicePortKey | undefined)[];
}

/**
 * The whole table for a desired state on a node.
 * @param except parts whose elements are left out
 */
export function desiredTable(
  desired: NftablesDesiredState,
  node: NodeNetwork,
  except?: ReadonlySet<TablePart>,
): DesiredTable {
  const { sets, ...others } = tableWithoutServices(desired, node);
  const contents = new Map(
    sets.map(({ set, elements, owners }) => [
      set,
      { set, elements: elements.slice(), owners: owners.slice() },
    ]),
  );
  desired.forEachElement((element, owner) => {
    const { elements, owners } = contents.get(element.set)!;
    elements.push(element);
    owners.push(owner);
  }, except);
  return { ...others, sets: [...contents.values()] };
}

/** The same without the elements of service ports: what has to be there before them. */
export function tableWithoutServices(desired: NftablesDesiredState, node: NodeNetwork): DesiredTable {
  const placed = [...desired.structures()].flatMap(({ leading }) => leading ?? []);
  placed.push(...nodePortKeys(node).map((key) => ({ set: NODEPORT_IPS, element: { key } })));
  return {
    chains: tableChains(desired, node),
    counters: structuresOf(desired, node).flatMap(({ counter }) => counter ?? []),
    sets: tableSets(desired, node).map((set) => {
      const elements = placed.filter((each) => each.set === set).map(({ element }) => element);
      return { set, elements, owners: elements.map(() => undefined) };
    }),
    keepsKubeProxyRules: desired.keepsKubeProxyRules,
  };
}

/** All chains of the table with their rules. */
export function tableChains(desired: NftablesDesiredState, node: NodeNetwork): readonly ChainRules[] {
  const structures = structuresOf(desired, node);
  const { keepsKubeProxyRules } = desired;
  const chains = nodeChains(node, { sourceLengths: sourceLengths(structures), keepsKubeProxyRules });
  return [...chains, ...structureChains(structures, node)];
}

/** The sets that the table has: those of every table, one for each prefix length of sources, those of the node, and kube-proxy's that are kept. */
export function tableSets(desired: NftablesDesiredState, node: NodeNetwork): readonly SetDefinition[] {
  const sources = sourceLengths(desired.structures()).map(sourcesSet);
  const ofNode = nodeStructures(node).flatMap(({ set }) => set ?? []);
  return [...STATIC_SETS, ...sources, ...ofNode, ...(desired.keepsKubeProxyRules ? KUBE_PROXY_MAPS : [])];
}

/** The prefix lengths among structures, each once, in order: for each there is a set of sources. */
export function sourceLengths(structures: Iterable<Structure>): readonly number[] {
  const lengths = new Set<number>();
  for (const { prefixLength } of structures) if (prefixLength !== undefined) lengths.add(prefixLength);
  return [...lengths].sort((a, b) => a - b);
}

function structuresOf(desired: NftablesDesiredState, node: NodeNetwork): readonly Structure[] {
  return [...desired.structures(), ...nodeStructures(node)];
}

function structureChains(structures: readonly Structure[], node: NodeNetwork): readonly ChainRules[] {
  return structures.flatMap(({ name, rules }) => (rules ? [{ chain: { name }, rules: rules(node) }] : []));
}

/** The elements of NODEPORT_IPS: none if every address of the node accepts node ports. */
export function nodePortKeys(node: NodeNetwork): readonly string[] {
  return node.nodePortIPs === 'all' ? [] : node.nodePortIPs;
}
