// The first decision of somebody new: opens the address that sayso open printed,
// and allows what waits there, with the mouse. .ci/first runs it.
import { chromium } from 'playwright-core'
import { flags } from './browser.mjs'

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags, headless: true })
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(process.argv[2])
  await page.locator('section[aria-label="Answer"]:not(.inert)').waitFor()
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.locator('.ended').getByText('Allowed by you').waitFor()
} finally {
  await browser.close()
}
