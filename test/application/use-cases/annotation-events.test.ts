import { annotationEvents } from '../../../src/application/use-cases/annotation-events.js';
import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import { OnService } from '../../../src/application/use-cases/on-service.js';
import { FamilyLoops } from '../../../src/application/use-cases/family-loops.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingObserver } from '../../support/recording-observer.js';
import { rawService } from '../../support/objects.js';

let posted: ClusterEvent[];
const recorder = { record: (event: ClusterEvent) => posted.push(event) };
beforeEach(() => {
  posted = [];
});

it('an annotation that is not understood is an event on the Service, once until it changes', () => {
  const reports = new ObjectReports(new MemoryLogger());
  const onService = new OnService(
    new ClusterState(),
    new FamilyLoops([]),
    reports,
    new RecordingObserver(),
    0,
    annotationEvents(recorder),
  );
  const apply = (annotations: object) =>
    onService.applied(rawService({}, { metadata: { namespace: 'shop', name: 'cart', annotations } }));
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
