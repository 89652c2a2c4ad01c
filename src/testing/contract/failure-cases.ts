import assert from 'node:assert/strict';
import type { BackendSubject } from './backend-subject.js';
import { sampleNode } from './sample-services.js';
import { everyKind, variant } from './sample-sets.js';
import { changed, succeeds, type CaseBodies } from './stage.js';

/** What is promised when something cannot be programmed: for subjects that can refuse a service port, or break down. */
export function failureCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  return { ...refusalCases(subject), ...breakDownCases(subject) };
}

function refusalCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  if (!subject.refuse) return {};
  const { family } = subject;
  const node = sampleNode(family);
  const all = everyKind(family);
  const bad = variant(family, 'plain', { number: 51, endpoints: 7 });
  const good = variant(family, 'sticky', { endpoints: 7 });
  const others = all.filter(({ key }) => key !== bad.key);
  const refuse = (place: Place, key: string | undefined) => subject.refuse!(place, key);
  return {
    'programs all but a refused service port, which keeps its last good rules and is reported': async (
      stage,
    ) => {
      const backend = await stage.started(all, node);
      await refuse(stage.place, bad.key);
      const { failed } = await backend.apply(changed(bad, good), node);
      assert.deepEqual(
        failed.map(({ key }) => key),
        [bad.key],
      );
      assert.match(failed[0]!.reason, /\S/);
      await refuse(stage.place, undefined);
      await stage.holds(
        all.map((entry) => (entry.key === good.key ? good : entry)),
        node,
        'while one is refused',
      );
      succeeds(await backend.apply(changed(bad), node));
      await stage.holds(
        all.map((entry) => [good, bad].find(({ key }) => key === entry.key) ?? entry),
        node,
        'after it was accepted',
      );
    },

    'starts without a refused service port': async (stage) => {
      await refuse(stage.place, bad.key);
      const backend = await stage.open();
      const { failed } = await backend.start(all, node);
      assert.deepEqual(
        failed.map(({ key }) => key),
        [bad.key],
      );
      await refuse(stage.place, undefined);
      await stage.holds(others, node, 'while one is refused');
      succeeds(await backend.apply(changed(bad), node));
      await stage.holds([bad, ...others], node, 'after it was accepted');
    },
  };
}

function breakDownCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  if (!subject.breakDown) return {};
  const { family } = subject;
  const node = sampleNode(family);
  const all = everyKind(family);
  const breakDown = (place: Place, error: Error | undefined) => subject.breakDown!(place, error);
  return {
    'rejects when nothing can be programmed, and starts again when it works': async (stage) => {
      const backend = await stage.started(all.slice(1), node);
      await breakDown(stage.place, new Error('out of order'));
      await assert.rejects(backend.apply(changed(all[0]!), node));
      await assert.rejects(backend.start(all, node));
      await breakDown(stage.place, undefined);
      succeeds(await backend.start(all, node));
      await stage.holds(all, node, 'after it worked again');
    },
  };
}
