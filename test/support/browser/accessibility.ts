import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What can be used with a keyboard. */
const USABLE = 'a[href], button, input, select, summary, [tabindex="0"]';

/** What axe finds wrong on the page, as it is shown now: the rule and the element; empty when nothing is. */
export async function violations(page: Page): Promise<readonly string[]> {
  // Not as a script of the page, which its content policy would refuse.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const results = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], preload: false }),
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** What the tab key does not reach of what can be used; empty when it reaches everything. */
export async function unreached(page: Page): Promise<readonly string[]> {
  await page.evaluate((usable) => {
    const others = [...document.querySelectorAll<HTMLElement>(usable)].filter(
      // Of a group of radio buttons the tab key stops at the chosen one; arrow keys choose.
      (element) =>
        element.tabIndex >= 0 && element.checkVisibility() && !element.matches('[type=radio]:not(:checked)'),
    );
    for (const element of others) element.dataset.unreached = '';
    document.addEventListener('focusin', ({ target }) => delete (target as HTMLElement).dataset.unreached);
    (document.activeElement as HTMLElement | null)?.blur();
  }, USABLE);
  const left = (): Promise<readonly string[]> =>
    page.$$eval('[data-unreached]', (elements) => elements.map((element) => element.outerHTML));
  // The page may get further rows meanwhile.
  const most = 2 * (await left()).length;
  for (let stop = 0; stop <= most; stop++) await page.keyboard.press('Tab');
  return left();
}
