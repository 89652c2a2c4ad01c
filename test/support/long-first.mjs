import Sequencer from '@jest/test-sequencer';

/** Where the long test files are comes first, so that at the end no worker waits for one of them. */
const PROJECTS = ['contained', 'kernel', 'package', 'hermetic'];

/** Projects whose files take long first; inside a project jest's own order. */
export default class LongFirst extends Sequencer {
  async sort(tests) {
    const order = ({ context }) => PROJECTS.indexOf(context.config.displayName?.name);
    return [...(await super.sort(tests))].sort((a, b) => order(a) - order(b));
  }
}
