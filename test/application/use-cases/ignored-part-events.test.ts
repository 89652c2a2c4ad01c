import { ignoredPartEvents } from '../../../src/application/use-cases/port-events.js';
import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { Bench } from './bench.js';

let posted: ClusterEvent[];
const recorder = { record: (event: ClusterEvent) => posted.push(event) };
beforeEach(() => {
  posted = [];
});

it('an annotation that is not understood is an event on the Service, once until it changes', () => {
  const { events } = new Bench({ ignoredParts: ignoredPartEvents(recorder) });
  const apply = (annotations: object) =>
    events.applied('Service', rawService({}, { metadata: { namespace: 'shop', name: 'cart', annotations } }));
  const wrong = { 'kube-proxy-ts/load-balancing': 'maglv' };
  apply(wrong);
  apply({ ...wrong, other: 'news' });
  expect(posted).toEqual([
    {
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
      type: 'Warning',
      reason: 'AnnotationIgnored',
      action: 'ReadObject',
      name: expect.stringMatching(/^cart\.[0-9a-f]+$/),
      note: expect.stringMatching(
        /^metadata\.annotations\[.*did you mean maglev\?; correct the annotation: kubectl -n shop edit service cart$/,
      ),
    },
  ]);
  apply({ 'kube-proxy-ts/load-balancing': 'maglev' });
  expect(posted).toHaveLength(1);
  apply(wrong);
  expect(posted).toHaveLength(2);
});

it('an address that no Service or endpoint may have is an event on the Service', () => {
  const { events } = new Bench({ ignoredParts: ignoredPartEvents(recorder) });
  events.applied('Service', rawService({ externalIPs: ['127.0.0.1', '192.0.2.1'] }));
  events.applied('EndpointSlice', rawSlice({ endpoints: [{ addresses: ['169.254.169.254'] }] }));
  expect(posted).toMatchObject([
    {
      reason: 'FieldIgnored',
      note: 'spec.externalIPs[0] "127.0.0.1" is loopback; ignored; correct the field: kubectl -n shop edit service cart',
    },
    {
      reason: 'FieldIgnored',
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
      note: expect.stringMatching(
        /^EndpointSlice shop\/\S+: endpoints\[0\]\.addresses\[0\] "169\.254\.169\.254" is link-local; ignored; correct the field: kubectl -n shop edit endpointslice cart-1$/,
      ),
    },
  ]);
});

it('an object that says the same again is no further event, nor is one that is not used at all', () => {
  const { events } = new Bench({ ignoredParts: ignoredPartEvents(recorder) });
  const raw = {
    metadata: { namespace: 'shop', name: 'cart' },
    subsets: [{ addresses: [{ ip: '127.0.0.1' }] }],
  };
  const wrong = { endpoints: [{ addresses: ['169.254.169.254'] }] };
  for (const change of [1, 2]) {
    events.applied('Service', rawService({ externalIPs: ['127.0.0.1'], [`other${change}`]: change }));
    events.applied('EndpointSlice', rawSlice({ ...wrong, other: change }));
    events.applied('Endpoints', { ...raw, other: change });
  }
  const notes = posted.map(({ note }) => note.split(' ')[0]);
  expect(notes).toEqual(['spec.externalIPs[0]', 'EndpointSlice', 'Endpoints']);
  events.applied('Service', rawService({ ports: 'x' }));
  events.applied('EndpointSlice', rawSlice({ ports: 'x' }));
  events.applied('Endpoints', { ...raw, subsets: 'x' });
  expect(posted).toHaveLength(3);
});

it('a Service that another proxy serves gets no event for its endpoints', () => {
  const { events } = new Bench({ ignoredParts: ignoredPartEvents(recorder) });
  const labels = { 'service.kubernetes.io/service-proxy-name': 'other' };
  events.applied('Service', rawService({}, { metadata: { namespace: 'shop', name: 'cart', labels } }));
  events.applied('EndpointSlice', rawSlice({ endpoints: [{ addresses: ['169.254.169.254'] }] }));
  const metadata = { namespace: 'shop', name: 'cart' };
  events.applied('Endpoints', { metadata, subsets: [{ addresses: [{ ip: '127.0.0.1' }] }] });
  expect(posted).toEqual([]);
});
