import type { Page } from 'playwright-core';

/** What can be used with a keyboard. */
const USABLE = 'a[href], button, input, select, summary, [tabindex="0"]';

/** Fields and buttons of the page that a screen reader has no name for; empty when all have one. */
export async function unnamed(page: Page): Promise<readonly string[]> {
  return page.$$eval(USABLE, (elements) =>
    elements
      .filter((element) => {
        const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
        const texts = [
          element.getAttribute('aria-label'),
          element.textContent,
          ...labels.map((one) => one.textContent),
        ];
        return !texts.some((text) => (text ?? '').trim() !== '');
      })
      .map((element) => element.outerHTML),
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
  const stops = (await left()).length;
  for (let stop = 0; stop <= stops; stop++) await page.keyboard.press('Tab');
  return left();
}

/** Texts whose contrast to what is behind them is less than 4.5, the least of WCAG 2 AA; empty when all can be read. */
export async function faint(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    type Color = readonly [red: number, green: number, blue: number, alpha: number];
    const colorOf = (text: string): Color => {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
      return [red, green, blue, alpha];
    };
    const luminance = ([red, green, blue]: Color): number => {
      const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element: Element | null): Color => {
      if (!element) return [255, 255, 255, 1];
      const color = colorOf(getComputedStyle(element).backgroundColor);
      return color[3] === 1 ? color : behind(element.parentElement);
    };
    return [...document.querySelectorAll('body *')]
      .filter(
        (element) =>
          element.checkVisibility() &&
          !(element instanceof SVGElement) &&
          [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue!.trim() !== ''),
      )
      .filter((element) => {
        const [a, b] = [colorOf(getComputedStyle(element).color), behind(element)].map(luminance);
        return (Math.max(a!, b!) + 0.05) / (Math.min(a!, b!) + 0.05) < 4.5;
      })
      .map((element) => element.outerHTML);
  });
}
