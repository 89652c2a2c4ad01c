import { SERVICES, SLICES } from '../cluster/simulated-cluster.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import type { StepKind } from '../schedule/step-kind.js';

type Fields = Readonly<Record<string, unknown>>;

const specWith =
  (fields: Fields) =>
  ({ spec, ...object }: ApiObject): ApiObject => ({ ...object, spec: { ...(spec as Fields), ...fields } });
const port = (fields: Fields): Fields => ({ ports: [{ port: 80, protocol: 'TCP', ...fields }] });

/** What no API server of today accepts, and older ones, or others that write objects, may have let through. */
const OF_SERVICES: Readonly<Record<string, (service: ApiObject) => ApiObject>> = {
  'no-address': specWith({ clusterIP: 'nonsense', clusterIPs: ['nonsense', 'nonsense'] }),
  'port-0': specWith(port({ port: 0 })),
  'port-too-large': specWith(port({ port: 70_000 })),
  'unknown-protocol': specWith(port({ protocol: 'CARP' })),
  'node-port-too-large': specWith(port({ nodePort: 70_000 })),
  'affinity-for-ever': specWith({
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 1_000_000 } },
  }),
};
const OF_SLICES: Readonly<Record<string, (slice: ApiObject) => ApiObject>> = {
  'slice-port-too-large': (slice) => ({ ...slice, ports: [{ name: '', protocol: 'TCP', port: 70_000 }] }),
  'slice-of-nothing': (slice) => ({
    ...slice,
    metadata: { ...slice.metadata, labels: { [OF_SERVICE]: '-' } },
  }),
};
const OF_SERVICE = 'kubernetes.io/service-name';
const BESIDE = 'beside';

/**
 * An object is written that is not valid, in place of one of a Service or beside it, until users write the Service again or all trouble
 * ends. Meanwhile what was valid last stays in force, for a process that has seen it (docs/behavior/life-cycle.md).
 */
export const misconfigure: StepKind = {
  name: 'misconfigure',
  weight: 0,
  plan(plan) {
    const name = plan.settings.source === 'api' ? plan.pickService() : undefined;
    if (name === undefined) return undefined;
    const how = plan.pick('misconfigure', [...Object.keys(OF_SERVICES), ...Object.keys(OF_SLICES)]);
    return [how, name, plan.pick('misconfigured', [BESIDE, 'itself'])];
  },
  perform({ cluster, world }, [how = '', name = '', where = '']) {
    const make = OF_SERVICES[how] ?? OF_SLICES[how];
    if (!make) throw new Error(`nothing is misconfigured by ${how}`);
    const objects = cluster.objectsOf(how in OF_SERVICES ? SERVICES : SLICES, name);
    const [object] = objects;
    if (!object) return;
    // When the program starts it serves what the other slices say.
    if (where !== BESIDE && how in OF_SLICES && objects.length > world.settings.families.length) return;
    const { metadata } = object;
    cluster.misconfigure(
      make(
        where === BESIDE
          ? { ...object, metadata: { ...metadata, name: `${metadata.name}-${BESIDE}` } }
          : object,
      ),
    );
  },
};
