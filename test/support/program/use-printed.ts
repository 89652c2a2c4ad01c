/** What the commands under test print, in each test from nothing. */
export interface Printed {
  stdout: string;
  stderr: string;
}

/** Catches it in each test of this file, instead of printing it. */
export function usePrinted(): Printed {
  const printed: Printed = { stdout: '', stderr: '' };
  beforeEach(() => {
    Object.assign(printed, { stdout: '', stderr: '' });
    for (const stream of ['stdout', 'stderr'] as const)
      jest.spyOn(process[stream], 'write').mockImplementation((text) => {
        printed[stream] += String(text);
        return true;
      });
  });
  afterEach(() => void jest.restoreAllMocks());
  return printed;
}
