import { addEventHandler } from 'jest-circus';

/**
 * The runner for bare Node knows no time limits: here tests and what surrounds them get theirs, in milliseconds. It only ends a test
 * that hangs: beside kernel tests one of two seconds has taken two minutes.
 */
const LONGEST = 600_000;

type Step = () => Promise<void> | void;

addEventHandler((event, { currentDescribeBlock: { children, hooks } }) => {
  if (event.name !== 'add_test' && event.name !== 'add_hook') return;
  const added = event.name === 'add_test' ? children.at(-1) : hooks.at(-1);
  if (added && 'fn' in added && added.fn) added.fn = limited(added.fn as Step, event.timeout);
});

function limited(step: Step, limit = LONGEST): Step {
  return async () => {
    let timer: NodeJS.Timeout;
    const tooLong = new Promise<void>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`took longer than ${limit} ms`)), limit);
    });
    try {
      await Promise.race([step(), tooLong]);
    } finally {
      clearTimeout(timer!);
    }
  };
}
