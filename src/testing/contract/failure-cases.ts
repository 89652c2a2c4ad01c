import assert from 'node:assert/strict';
import type { BackendSubject } from './backend-subject.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { sampleEntry } from './sample-services.js';
import { everyKind, variant } from './sample-sets.js';
import { changed, failsAtMost, gone, succeeds, type CaseBodies } from './stage.js';

/** Some write a change in a few steps: what leads to it, itself, what is not needed any more. */
const MOST_WRITES_A_CHANGE = 4;

/** The guarantees when something cannot be programmed: for subjects that can reject a service port, or break down. */
export function failureCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  return { ...rejectionCases(subject), ...breakDownCases(subject) };
}

function rejectionCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  if (!subject.reject) return {};
  const { family } = subject;
  const all = everyKind(family);
  const bad = variant(family, 'plain', { number: 51, endpoints: 7 });
  const good = variant(family, 'sticky', { endpoints: 7 });
  const others = all.filter(({ key }) => key !== bad.key);
  const reject = (place: Place, key: string | undefined) => subject.reject!(place, key);
  const cases: CaseBodies<Place> = {
    'reports a removal that is refused, and removes what is left when it is asked again': async (stage) => {
      const backend = await stage.started([bad, ...others]);
      await reject(stage.place, bad.key);
      const { failed } = await backend.apply(gone(bad), stage.node);
      failsAtMost({ failed }, bad.key);
      if (failed.length > 0) await stage.holds([bad, ...others], 'while its removal is refused');
      await reject(stage.place, undefined);
      succeeds(await backend.apply(gone(bad), stage.node));
      await backend.verify('full');
      await stage.holds(others, 'after its removal was accepted');
    },

    'repairs everything but a refused service port, which has all again when it is accepted': async (
      stage,
    ) => {
      if (!subject.damage) return;
      const backend = await stage.started([bad, ...others]);
      await reject(stage.place, bad.key);
      await subject.damage(stage.place);
      failsAtMost(await backend.verify('full'), bad.key);
      await reject(stage.place, undefined);
      succeeds(await backend.apply(changed(bad), stage.node));
      await backend.verify('full');
      await stage.holds([bad, ...others], 'after it was accepted');
    },

    'finds one refused service port among many with few writes': async (stage) => {
      if (!subject.writes) return;
      const many = Array.from({ length: 32 }, (_, index) =>
        sampleEntry(family, `many-${index}`, { number: 100 + index, endpoints: 1 }),
      );
      const backend = await stage.started([bad, ...many]);
      const wanted = [bad, ...many].map((entry, index) =>
        entry === bad ? variant(family, 'plain', { number: 51, endpoints: 5 }) : moved(many[index - 1]!),
      );
      await reject(stage.place, bad.key);
      const before = subject.writes(stage.place);
      failsAtMost(await backend.apply(changed(...wanted), stage.node), bad.key);
      const most = MOST_WRITES_A_CHANGE * (3 + 2 * Math.ceil(Math.log2(wanted.length)));
      const writes = subject.writes(stage.place) - before;
      assert.ok(writes <= most, `${writes} writes, not more than ${most}`);
      await reject(stage.place, undefined);
      succeeds(await backend.apply(changed(wanted[0]!), stage.node));
      await backend.verify('full');
      await stage.holds(wanted, 'after it was accepted');

      function moved({ name }: ForwardingEntry): ForwardingEntry {
        const number = 100 + Number(name.name.slice('many-'.length));
        return sampleEntry(family, name.name, { number, endpoints: 2 });
      }
    },
  };
  if (subject.writesInParts) return cases;
  return {
    ...cases,

    'programs all but a refused service port, which keeps its last good rules and is reported': async (
      stage,
    ) => {
      const backend = await stage.started(all);
      await reject(stage.place, bad.key);
      const { failed } = await backend.apply(changed(bad, good), stage.node);
      assert.deepEqual(
        failed.map(({ key }) => key),
        [bad.key],
      );
      assert.match(failed[0]!.reason, /\S/);
      await reject(stage.place, undefined);
      await stage.holds(
        all.map((entry) => (entry.key === good.key ? good : entry)),
        'while one is refused',
      );
      succeeds(await backend.apply(changed(bad), stage.node));
      await stage.holds(
        all.map((entry) => [good, bad].find(({ key }) => key === entry.key) ?? entry),
        'after it was accepted',
      );
    },

    'starts without a refused service port': async (stage) => {
      await reject(stage.place, bad.key);
      const backend = await stage.open();
      const { failed } = await backend.start(all, stage.node);
      assert.deepEqual(
        failed.map(({ key }) => key),
        [bad.key],
      );
      await reject(stage.place, undefined);
      await stage.holds(others, 'while one is refused');
      succeeds(await backend.apply(changed(bad), stage.node));
      await stage.holds([bad, ...others], 'after it was accepted');
    },
  };
}

function breakDownCases<Place>(subject: BackendSubject<Place>): CaseBodies<Place> {
  if (!subject.breakDown) return {};
  const breakDown = (place: Place, error: Error | undefined) => subject.breakDown!(place, error);
  return {
    'rejects when nothing can be programmed, and starts again when it works': async (stage) => {
      const backend = await stage.started(stage.all.slice(1));
      await breakDown(stage.place, new Error('out of order'));
      await assert.rejects(backend.apply(changed(stage.all[0]!), stage.node));
      await assert.rejects(backend.start(stage.all, stage.node));
      await breakDown(stage.place, undefined);
      succeeds(await backend.start(stage.all, stage.node));
      await stage.holds(stage.all, 'after it worked again');
    },
  };
}
