import Sequencer from '@jest/test-sequencer';

/** Where the long test files are comes first, so that at the end no worker waits for one of them. */
const PROJECTS = ['contained', 'kernel', 'package', 'hermetic'];

/**
 * Hermetic files that have all garbage collected. In a process that has run a hundred files before, with what jest keeps of
 * each, that takes seconds a time.
 */
const COLLECTING = /\/(collect-garbage|arriving-objects|pprof-routes)\.test\.ts$/;

/** Files that collect garbage first, then projects whose files take long; inside a project jest's own order. */
export default class LongFirst extends Sequencer {
  async sort(tests) {
    const order = ({ path, context }) =>
      COLLECTING.test(path) ? -1 : PROJECTS.indexOf(context.config.displayName?.name);
    return [...(await super.sort(tests))].sort((a, b) => order(a) - order(b));
  }
}
