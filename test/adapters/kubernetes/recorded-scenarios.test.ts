import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import { SERVICE_NAME_LABEL } from '../../../src/domain/decode/read-endpoint-slice.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { Release } from '../../support/api-server/release.js';
import { collectionOf } from '../../support/api-server/resource-path.js';
import {
  applyObject,
  forwardingTable,
  recordedContext,
  recordedObjects,
  recordedSteps,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { until } from '../../support/until.js';
import { SERVERS, setUp, type RecordingSink } from './harness.js';

/** The API versions of the kinds of which a scenario removes objects. */
const API_VERSIONS = { Service: 'v1', EndpointSlice: 'discovery.k8s.io/v1', Endpoints: 'v1' } as const;
const steps = recordedSteps();
const scenarios = [...new Set(steps.map(({ scenario }) => scenario))];

interface RecordedEndpoint {
  readonly addresses: readonly string[];
  readonly nodeName?: string;
  readonly conditions?: { readonly ready?: boolean };
}

const nameOf = ({ kind, metadata: { namespace = 'default', name } }: ApiObject): string =>
  `${kind} ${namespace}/${name}`;

/** What the cluster has at that step, with Endpoints for its slices. */
function objectsOf(step: RecordedStep): readonly ApiObject[] {
  const objects = recordedObjects(step).map(({ object }) => object as ApiObject);
  return [...objects, ...endpointsOf(objects.filter(({ kind }) => kind === 'EndpointSlice'))];
}

function endpointsOf(slices: readonly ApiObject[]): readonly ApiObject[] {
  const subsets = new Map<string, object[]>();
  for (const { metadata, endpoints, ports } of slices) {
    const key = `${metadata.namespace ?? 'default'}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ''}`;
    const addresses = (isReady: boolean): object[] =>
      ((endpoints ?? []) as RecordedEndpoint[])
        .filter(({ conditions }) => (conditions?.ready !== false) === isReady)
        .map(({ addresses: [ip], nodeName }) => ({ ip, nodeName }));
    const subset = { addresses: addresses(true), notReadyAddresses: addresses(false), ports };
    subsets.set(key, [...(subsets.get(key) ?? []), subset]);
  }
  return [...subsets].map(([key, of]) => {
    const [namespace = '', name = ''] = key.split('/');
    return { apiVersion: 'v1', kind: 'Endpoints', metadata: { namespace, name }, subsets: of };
  });
}

/** What of it a proxy reads from an API server of that release. */
function stateAt(version: string, step: RecordedStep): ClusterState {
  const release = Release.of(version);
  const has = ({ apiVersion, kind }: ApiObject): boolean => !release.missing(collectionOf(apiVersion, kind));
  const objects = objectsOf(step).filter(has);
  const slices = objects.some(({ kind }) => kind === 'EndpointSlice');
  const state = new ClusterState();
  for (const object of objects.filter(({ kind }) => kind !== 'Endpoints' || !slices))
    applyObject(state, object.kind as ResourceKind, release.view(object));
  return state;
}

/** From now on the API server has what it had at that step. */
function change(api: StandInApiServer, step: RecordedStep): void {
  const wanted = objectsOf(step);
  const names = new Set(wanted.map(nameOf));
  for (const [kind, apiVersion] of Object.entries(API_VERSIONS))
    for (const object of api.objects(apiVersion, kind))
      if (!names.has(nameOf(object))) api.remove(apiVersion, kind, object.metadata);
  for (const object of wanted) api.put(object);
}

function arrived({ objects }: RecordingSink): ClusterState {
  const state = new ClusterState();
  for (const [key, object] of objects) applyObject(state, key.split(' ', 1)[0] as ResourceKind, object);
  return state;
}

/** What decides about the rules: the entries of both families. */
function decisions(step: RecordedStep, state: ClusterState): object[] {
  return IP_FAMILIES.map((family) =>
    [...forwardingTable(state, recordedContext(step, state, family)).entries()].sort((one, other) =>
      one.key < other.key ? -1 : 1,
    ),
  );
}

const cases = scenarios.flatMap((scenario) => SERVERS.map((server) => ({ scenario, ...server })));

/** An API server delivers what was recorded: nothing that decides about the rules depends on how it does that. */
it.each(cases)(
  'the forwarding table of $scenario is the same from $version over $encoding, streamed lists: $streamLists',
  async ({ scenario, version, encoding, streamLists }) => {
    const api = await StandInApiServer.start();
    api.version = version;
    api.speaksProtobuf = encoding === 'protobuf';
    const { source, sink } = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists }, {}, 'node1');
    try {
      for (const step of steps.filter((each) => each.scenario === scenario)) {
        change(api, step);
        if (step.step === 1) await source.start(sink, new AbortController().signal);
        const expected = decisions(step, stateAt(version, step));
        await until('everything has arrived', () => {
          expect(sink.kindsSynced).toEqual(expect.arrayContaining(['Service', 'EndpointSlice', 'Node']));
          expect(decisions(step, arrived(sink))).toEqual(expected);
          return Promise.resolve(true);
        });
      }
      const streamed = api.requests.filter(
        ({ query, status }) => query.sendInitialEvents === 'true' && status === 200,
      );
      expect(streamed).toHaveLength(streamLists && Release.of(version).streamsLists ? 4 : 0);
    } finally {
      await source.stop();
      await api.close();
    }
  },
);
