import { KnownObjects, Replacement } from '../../../../src/adapters/kubernetes/watch/known-objects.js';
import { RecordingLogger } from '../harness.js';

const object = (name: string, resourceVersion = '1') => ({
  metadata: { name, namespace: 'shop', resourceVersion },
});

let calls: string[];
let logger: RecordingLogger;
let known: KnownObjects;

beforeEach(() => {
  calls = [];
  logger = new RecordingLogger();
  const listener = {
    applied: (applied: unknown) =>
      void calls.push(`applied ${(applied as ReturnType<typeof object>).metadata.name}`),
    deleted: ({ name }: { name: string }) => void calls.push(`deleted ${name}`),
  };
  known = new KnownObjects(listener, logger);
  for (const name of ['a', 'b', 'c']) known.apply(object(name));
  calls = [];
});

it('deletes what the list does not contain, when it ends', () => {
  const list = new Replacement(known, logger);
  list.add(object('a'));
  list.add(object('b', '2'));
  expect(calls).toEqual(['applied b']);
  list.end();
  expect(calls).toEqual(['applied b', 'deleted c']);
});

it('keeps the last version of an object that is unreadable', () => {
  const list = new Replacement(known, logger);
  list.add(object('a'));
  list.addUnreadable({ partial: object('b', '2'), problem: 'a length beyond the end' });
  list.end();
  expect(calls).toEqual(['deleted c']);
  expect(logger.matching('warn', 'unreadable object')[0]!.facts).toEqual({
    object: 'shop/b',
    problem: 'a length beyond the end',
  });
});

it('deletes nothing while an object without a readable name may be any of them', () => {
  const list = new Replacement(known, logger);
  list.addUnreadable({ partial: undefined, problem: 'wire type 7' });
  list.end();
  expect(calls).toEqual([]);
  expect(logger.matching('warn', 'unreadable object')).toHaveLength(1);
});

it('begins anew when everything comes again', () => {
  const list = new Replacement(known, logger);
  list.add(object('a'));
  list.addUnreadable({ partial: undefined, problem: 'wire type 7' });
  list.restart();
  list.add(object('b'));
  list.end();
  expect(calls).toEqual(['deleted a', 'deleted c']);
});
