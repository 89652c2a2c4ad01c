import { annotationEvents } from '../../../src/application/use-cases/annotation-events.js';
import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { rawService } from '../../support/objects.js';
import { Bench } from './bench.js';

let posted: ClusterEvent[];
const recorder = { record: (event: ClusterEvent) => posted.push(event) };
beforeEach(() => {
  posted = [];
});

it('an annotation that is not understood is an event on the Service, once until it changes', () => {
  const { events } = new Bench({ ignoredParts: annotationEvents(recorder) });
  const apply = (annotations: object) =>
    events.applied('Service', rawService({}, { metadata: { namespace: 'shop', name: 'cart', annotations } }));
  const wrong = { 'kube-proxy-ts/load-balancing': 'maglv' };
  apply(wrong);
  apply({ ...wrong, other: 'news' });
  expect(posted).toEqual([
    {
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
      type: 'Warning',
      reason: 'AnnotationNotUnderstood',
      action: 'ReadAnnotations',
      note: expect.stringMatching(/^Service shop\/cart: metadata\.annotations\[.*did you mean maglev\?$/),
    },
  ]);
  apply({ 'kube-proxy-ts/load-balancing': 'maglev' });
  expect(posted).toHaveLength(1);
  apply(wrong);
  expect(posted).toHaveLength(2);
});
