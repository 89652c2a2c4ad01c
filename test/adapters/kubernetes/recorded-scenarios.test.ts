import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import {
  applyObject,
  forwardingTable,
  recordedContext,
  recordedObjects,
  recordedState,
  recordedSteps,
  type RecordedStep,
} from '../../support/recorded/cluster.js';
import { until } from '../../support/until.js';
import { DELIVERIES, setUp, type RecordingSink } from './harness.js';

/** The API versions of the kinds of which a scenario removes objects. */
const API_VERSIONS = { Service: 'v1', EndpointSlice: 'discovery.k8s.io/v1' } as const;
const steps = recordedSteps();
const scenarios = [...new Set(steps.map(({ scenario }) => scenario))];

const nameOf = ({ kind, metadata: { namespace = 'default', name } }: ApiObject): string =>
  `${kind} ${namespace}/${name}`;

/** From now on the API server has what it had at that step. */
function change(api: StandInApiServer, step: RecordedStep): void {
  const wanted = recordedObjects(step).map(({ object }) => object as ApiObject);
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

/** Of all but one scenario it is what objects say that matters: in `churn` they come and go, so it is delivered in every way. */
const cases = scenarios.flatMap((scenario, place) =>
  DELIVERIES.filter(
    ({ encoding, streamLists }) =>
      scenario === 'churn' || (encoding === 'protobuf' && streamLists === (place % 2 === 0)),
  ).map((delivery) => ({ scenario, ...delivery })),
);

/** An API server delivers what was recorded: nothing that decides about the rules depends on how it does that. */
it.each(cases)(
  'the forwarding table of $scenario is the same over $encoding in $listing',
  async ({ scenario, encoding, streamLists }) => {
    const api = await StandInApiServer.start();
    api.speaksProtobuf = encoding === 'protobuf';
    const { source, sink } = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists }, {}, 'node1');
    try {
      for (const step of steps.filter((each) => each.scenario === scenario)) {
        change(api, step);
        if (step.step === 1) await source.start(sink, new AbortController().signal);
        const expected = decisions(step, recordedState(step));
        await until('everything has arrived', () => {
          expect(sink.kindsSynced).toHaveLength(4);
          expect(decisions(step, arrived(sink))).toEqual(expected);
          return Promise.resolve(true);
        });
      }
      const listed = api.requests.filter(({ query }) => query.sendInitialEvents === 'true');
      expect(listed).toHaveLength(streamLists ? 4 : 0);
    } finally {
      await source.stop();
      await api.close();
    }
  },
);
