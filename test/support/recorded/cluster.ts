import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ManifestObject, ManifestObjects } from '../../../src/adapters/manifests/load-manifest.js';
import { parseManifest } from '../../../src/adapters/manifests/manifest-text.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import { NodeContexts } from '../../../src/application/node/node-contexts.js';
import type { FamilyContext } from '../../../src/application/use-cases/sync.js';
import { decodeConfigurationFile } from '../../../src/bootstrap/configuration/configuration-file.js';
import { modeSettings, withMode } from '../../../src/bootstrap/configuration/proxy-configuration.js';
import { readEndpointSlice, readEndpoints } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../src/domain/decode/read-node.js';
import { readServiceCidr } from '../../../src/domain/decode/read-service-cidr.js';
import { readService } from '../../../src/domain/decode/read-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { IptablesHost } from '../../../src/domain/iptables/options.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { isWanted } from './scenarios.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';

const root = fileURLToPath(new URL('../../conformance/scenarios/', import.meta.url));

/** The addresses of the host on which the scenarios were recorded. */
const LOCAL_ADDRESSES = [
  '127.0.0.1',
  '10.244.1.1',
  '169.254.77.1',
  '198.18.0.1',
  '198.51.100.11',
  '::1',
  'fd00:10:244:1::1',
  '2001:db8:18::1',
  '2001:db8:2::11',
  '2001:db8:77::1',
];

/** What the tools and the kernel had on which the scenarios were recorded. */
export const RECORDED_HOST: IptablesHost = {
  randomFully: true,
  tcpLiberal: false,
  counters: new Set(['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'] as const),
};

/** One state of a recorded scenario. */
export interface RecordedStep {
  readonly scenario: string;
  readonly step: number;
}

/** Every step of every scenario. */
export function recordedSteps(): readonly RecordedStep[] {
  return readdirSync(root)
    .filter(isWanted)
    .sort()
    .flatMap((scenario) =>
      readdirSync(`${root}${scenario}`)
        .flatMap((file) => /^objects-(\d+)\.yaml$/.exec(file)?.[1] ?? [])
        .map((step) => ({ scenario, step: Number(step) })),
    );
}

/** One step as one family sees it. */
export interface RecordedCase extends RecordedStep {
  readonly family: IpFamily;
}

/** Every step of every scenario, for both families. */
export function recordedCases(): readonly RecordedCase[] {
  return recordedSteps().flatMap((step) => IP_FAMILIES.map((family) => ({ ...step, family })));
}

/** The modes that write to iptables. */
export type IptablesUser = 'iptables' | 'ipvs';

/** All modes that were recorded. */
export type RecordedMode = IptablesUser | 'nftables';

/** What iptables-save printed. */
export function recordedDump(step: RecordedStep, family: IpFamily, mode: IptablesUser = 'iptables'): string {
  return recordedText(step, mode, family === 'IPv4' ? 'iptables' : 'ip6tables');
}

/** What one of the tools printed, or another file of the recording. */
export function recordedText(
  { scenario, step }: RecordedStep,
  mode: RecordedMode,
  tool: string,
  extension = 'txt',
): string {
  return readFileSync(`${root}${scenario}/expected/${mode}/${tool}-${step}.${extension}`, 'utf8');
}

/** The whole state of the cluster in a step. */
export function recordedManifest({ scenario, step }: RecordedStep): string {
  return readFileSync(`${root}${scenario}/objects-${step}.yaml`, 'utf8');
}

/** Of the steps that were read so far: each is asked for once for each family, at least. */
const OBJECTS = new Map<string, readonly ManifestObject[]>();

/** The objects of a step, in the order of the file. */
export function recordedObjects(step: RecordedStep): readonly ManifestObject[] {
  return getOrMake(OBJECTS, `${step.scenario} ${step.step}`, () => {
    const found = new ManifestObjects();
    for (const document of parseManifest(recordedManifest(step)))
      for (const _ of found.add(document)) continue;
    return found.objects;
  });
}

/** The state of the cluster that a step describes. */
export function recordedState(step: RecordedStep): ClusterState {
  const state = new ClusterState();
  for (const { kind, object } of recordedObjects(step)) applyObject(state, kind, object);
  return state;
}

/** Adds a raw object to a state, or replaces it. */
export function applyObject(state: ClusterState, kind: ResourceKind, object: unknown): void {
  if (kind === 'Service') take(readService(object).value, (value) => state.applyService(value));
  if (kind === 'EndpointSlice')
    take(readEndpointSlice(object, 'node1').value, (value) => state.applySlice(value));
  if (kind === 'Endpoints')
    for (const slice of readEndpoints(object, 'node1').value ?? []) state.applySlice(slice);
  if (kind === 'Node') take(readNode(object).value, (value) => state.applyNode(value));
  if (kind === 'ServiceCIDR') take(readServiceCidr(object).value, (value) => state.applyServiceCidr(value));
}

function take<T>(value: T | undefined, apply: (value: T) => unknown): void {
  if (value !== undefined) apply(value);
}

/** What decides about a family besides services, by the scenario's configuration. */
export function recordedContext(
  { scenario }: RecordedStep,
  state: ClusterState,
  family: IpFamily,
  mode: RecordedMode = 'iptables',
): FamilyContext {
  const { configuration: read } = decodeConfigurationFile(
    readFileSync(`${root}${scenario}/config.yaml`, 'utf8'),
  );
  const configuration = mode === 'nftables' ? withMode(read, mode) : read;
  const { masqueradeBit, masqueradeAll } = modeSettings(configuration, mode);
  const { detectLocalMode, detectLocal, clusterCIDR, bindAddress, nodePortAddresses } = configuration;
  const settings = {
    nodeName: 'node1',
    bindAddress,
    nodePortAddresses,
    localTraffic: {
      mode: detectLocalMode || 'ClusterCIDR',
      clusterCIDRs: clusterCIDR,
      ...detectLocal,
    } as const,
    masqueradeBit,
    masqueradeAll,
    localhostNodePorts: mode === 'iptables' && configuration.iptables.localhostNodePorts,
    namesNodeAddresses: mode === 'ipvs',
    nodeHints: true,
    externalIPsAllowed: true,
  };
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  return new NodeContexts(settings, state, { list: () => LOCAL_ADDRESSES }, logger as never).of(family, true);
}

/** The forwarding table of a state. */
export function forwardingTable(state: ClusterState, { forwarding }: FamilyContext): ForwardingTable {
  const table = new ForwardingTable();
  table.update(state, state.serviceKeys(), forwarding);
  return table;
}

/** What a backend gets in a step: the entries of the forwarding table, and what it must know of the node. */
export function recordedEntries(
  step: RecordedStep,
  family: IpFamily,
  mode?: IptablesUser,
): { readonly entries: readonly ForwardingEntry[]; readonly network: NodeNetwork } {
  const state = recordedState(step);
  const context = recordedContext(step, state, family, mode);
  return { entries: [...forwardingTable(state, context).entries()], network: context.network };
}
