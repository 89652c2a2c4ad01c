export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Resolves when somebody can see the page: at once, if so. */
export async function visible(): Promise<void> {
  while (document.visibilityState !== 'visible')
    await new Promise((seen) => document.addEventListener('visibilitychange', seen, { once: true }));
}
