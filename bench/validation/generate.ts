import { Dice, type Fields } from './dice.js';
import { endpoints, endpointSlice, node, serviceCidr } from './generate-others.js';
import { service } from './generate-service.js';

/** A manifest, valid or not. */
export interface GeneratedManifest {
  /** Where an API server takes it. */
  readonly path: string;
  readonly kind: 'Service' | 'EndpointSlice' | 'Endpoints' | 'Node' | 'ServiceCIDR';
  readonly object: Fields;
}

/**
 * Manifests for comparing verdicts: most fields at their good values, some at values beside them, some misspelled, missing or
 * of another type. Node ports and cluster IPs are in the usual ranges of a cluster with both families: those are flags of an
 * API server, and unknown to manifests.
 */
export function* generateManifests(count: number, seed: number): Generator<GeneratedManifest> {
  const dice = new Dice(seed);
  for (let index = 0; index < count; index++) yield generate(dice, index);
}

const ALIEN: readonly unknown[] = [null, '', 'x', 7, -1, 1.5, true, [], {}, ['x'], { x: 1 }, 3_000_000_000];

function generate(dice: Dice, index: number): GeneratedManifest {
  dice.object();
  const name = `generated-${index}`;
  const kind = dice.of([
    'Service',
    'Service',
    'Service',
    'EndpointSlice',
    'EndpointSlice',
    'Endpoints',
    'Node',
    'ServiceCIDR',
  ] as const);
  const { path, apiVersion, make } = KINDS[kind];
  const object: Fields = { apiVersion, kind, metadata: metadata(dice, name), ...make(dice) };
  if (dice.risky) distort(dice, object);
  return { path, kind, object };
}

/** Removes, renames or replaces a field somewhere below the metadata's siblings. */
function distort(dice: Dice, object: Fields): void {
  let owner: Fields = object;
  for (;;) {
    const names = Object.keys(owner).filter((name) => !['apiVersion', 'kind', 'name'].includes(name));
    if (names.length === 0) return;
    const name = dice.of(names);
    const member = owner[name];
    if (typeof member === 'object' && member !== null && (name === 'metadata' || dice.chance(0.8))) {
      owner = member as Fields;
      continue;
    }
    const way = dice.below(3);
    if (way > 0 && !Array.isArray(owner)) delete owner[name];
    if (way === 1) owner[dice.of([name.toUpperCase(), `${name}s`, name.slice(0, -1) || 'y'])] = member;
    if (way === 2) owner[name] = dice.of(ALIEN);
    return;
  }
}

function metadata(dice: Dice, name: string): Fields {
  return {
    name,
    ...dice.fields({
      labels: [
        0.3,
        () => ({ app: dice.either(['web', 'a.b_c', ''], ['a b', '-a', 'x'.repeat(64), 5, null]) }),
      ],
      annotations: [
        0.2,
        () => ({
          [dice.either(['note', 'Example.com/note'], ['a b', '/x', 'a/b/c', '']) as string]: dice.either(
            ['any text', ''],
            [1, null],
          ),
        }),
      ],
      finalizers: [0.05, () => [dice.either(['example.com/x', 'orphan'], ['x', '', 'a b'])]],
      creationTimestamp: [0.05, () => dice.either([null, '2026-01-02T03:04:05Z'], ['yesterday', 5])],
      ownerReferences: [
        0.05,
        () => [
          dice.either([{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }], [{}, { kind: 'Pod' }, null]),
        ],
      ],
    }),
  };
}

const KINDS = {
  Service: { path: '/api/v1/namespaces/default/services', apiVersion: 'v1', make: service },
  EndpointSlice: {
    path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    apiVersion: 'discovery.k8s.io/v1',
    make: endpointSlice,
  },
  Endpoints: { path: '/api/v1/namespaces/default/endpoints', apiVersion: 'v1', make: endpoints },
  Node: { path: '/api/v1/nodes', apiVersion: 'v1', make: node },
  ServiceCIDR: {
    path: '/apis/networking.k8s.io/v1/servicecidrs',
    apiVersion: 'networking.k8s.io/v1',
    make: serviceCidr,
  },
} as const;
