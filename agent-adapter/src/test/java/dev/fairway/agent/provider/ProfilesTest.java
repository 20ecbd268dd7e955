package dev.fairway.agent.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the answers of each provider mean. */
class ProfilesTest {
  private static final String OPENAI_TPM =
      "{'error':{'type':'tokens','code':'rate_limit_exceeded','message':'Rate limit reached for m in"
          + " organization o on tokens per min (TPM): Limit 50000, Used 47949, Requested 3006.%s'}}";

  @Test
  void shouldReadAllLimitsOfAnthropic() {
    // when
    ProviderReading reading =
        Answers.answer(200)
            .header("Anthropic-RateLimit-Requests-Limit", "4000")
            .header("anthropic-ratelimit-requests-remaining", "3999")
            .header("anthropic-ratelimit-requests-reset", "2026-08-27T11:10:53Z")
            .header("anthropic-ratelimit-input-tokens-limit", "400000")
            .header("anthropic-ratelimit-input-tokens-remaining", "399000")
            .header("anthropic-ratelimit-input-tokens-reset", "2026-08-27T11:10:54Z")
            .header("anthropic-ratelimit-output-tokens-limit", "80000")
            .header("anthropic-ratelimit-tokens-remaining", "478000")
            .header("retry-after", "59")
            .readBy("anthropic");

    // then
    assertThat(reading.limits())
        .containsExactly(
            Map.entry(Dimension.REQUESTS, perMinute(4_000L, 3_999L, 0L)),
            Map.entry(Dimension.INPUT_TOKENS, perMinute(400_000L, 399_000L, 1_000L)),
            Map.entry(Dimension.OUTPUT_TOKENS, perMinute(80_000L, null, null)),
            Map.entry(Dimension.TOKENS, perMinute(null, 478_000L, null)));
    assertThat(reading.kind()).isEqualTo(AnswerClass.OK);
    assertThat(reading.waitMs()).as("a retry-after on success").isNull();
  }

  @Test
  void shouldTakeAPriorityTiersLimitsWhereNoOthersAreTold() {
    // when
    ProviderReading reading =
        Answers.answer(200)
            .header("anthropic-ratelimit-input-tokens-limit", "1000")
            .header("anthropic-priority-input-tokens-limit", "2000")
            .header("anthropic-priority-output-tokens-limit", "3000")
            .readBy("anthropic");

    // then
    assertThat(reading.limits().get(Dimension.INPUT_TOKENS).limit()).isEqualTo(1_000);
    assertThat(reading.limits().get(Dimension.OUTPUT_TOKENS).limit()).isEqualTo(3_000);
  }

  @Test
  void shouldWaitForTheLaterResetOfAllThatIsExhausted() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("anthropic-ratelimit-requests-remaining", "0")
            .header("anthropic-ratelimit-requests-reset", "2026-08-27T11:11:03Z")
            .header("anthropic-ratelimit-output-tokens-remaining", "0")
            .header("anthropic-ratelimit-output-tokens-reset", "2026-08-27T11:11:13Z")
            .header("anthropic-ratelimit-input-tokens-remaining", "5000")
            .header("anthropic-ratelimit-input-tokens-reset", "2026-08-27T11:11:53Z")
            .readBy("anthropic");

    // then
    assertThat(reading.waitMs()).isEqualTo(20_000);
    assertThat(reading.binding()).isEqualTo(Dimension.OUTPUT_TOKENS);
    assertThat(reading.resetAt()).isEqualTo(Instant.parse("2026-08-27T11:11:13Z"));
  }

  @Test
  void shouldTakeTheRetryAfterOfAnErrorBeforeResets() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("retry-after", "7")
            .header("anthropic-ratelimit-requests-remaining", "0")
            .header("anthropic-ratelimit-requests-reset", "2026-08-27T11:11:03Z")
            .readBy("anthropic");

    // then
    assertThat(reading.waitMs()).isEqualTo(7_000);
    assertThat(reading.resetAt()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "2026-08-27T11:10:53Z,2026-09-01T00:00:00Z",
    "2026-12-31T23:59:59.999Z,2027-01-01T00:00:00Z",
    "2028-02-29T00:00:00Z,2028-03-01T00:00:00Z"
  })
  void shouldTakeASpendLimitAsOverOnTheFirstOfNextMonth(Instant now, Instant expected) {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .at(now)
            .body(
                "{'type':'error','error':{'type':'rate_limit_error','message':'m',"
                    + "'details':{'error_code':'enforced_spend_limit_reached'}}}")
            .readBy("anthropic");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.QUOTA_EXHAUSTED);
    assertThat(reading.retry()).isFalse();
    assertThat(reading.resetAt()).isEqualTo(expected);
    assertThat(reading.waitMs()).isEqualTo(Duration.between(now, expected).toMillis());
  }

  @Test
  void shouldTakeASubscriptionsRejectedWindowAsExhaustedUntilItsReset() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("anthropic-ratelimit-unified-status", "rejected")
            .header("anthropic-ratelimit-unified-5h-status", "rejected")
            .header(
                "anthropic-ratelimit-unified-5h-reset",
                Long.toString(Answers.NOW.getEpochSecond() + 7_200))
            .header("anthropic-ratelimit-unified-7d-status", "allowed_warning")
            .header(
                "anthropic-ratelimit-unified-7d-reset",
                Long.toString(Answers.NOW.getEpochSecond() + 400_000))
            .body("{'type':'error','error':{'type':'rate_limit_error','message':'m'}}")
            .readBy("anthropic");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.QUOTA_EXHAUSTED);
    assertThat(reading.waitMs()).isEqualTo(7_200_000);
    assertThat(reading.limits()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "anthropic,529,{'type':'error'},OVERLOADED,true",
    "anthropic,429,{'error':{'type':'overloaded_error'}},OVERLOADED,true",
    "anthropic,429,{'error':{'type':'rate_limit_error'}},RATE_LIMITED,true",
    "anthropic,402,{'error':{'type':'billing_error'}},BILLING,false",
    "anthropic,400,{'error':{'type':'invalid_request_error'}},ERROR,false",
    "anthropic,400,{'error':{'type':'invalid_request_error';'message':'Your credit balance is too low to access the API.'}},BILLING,false",
    "openai,429,{'error':{'code':'billing_hard_limit_reached'}},BILLING,false",
    "openai,429,{'error':{'code':'billing_not_active'}},BILLING,false",
    "generic,429,{'error':{'code':'insufficient_balance'}},BILLING,false",
    "anthropic,400,{'error':{'type':'billing_error'}},BILLING,false",
    "anthropic,500,{'error':{'type':'api_error'}},ERROR,true",
    "openai,429,{'error':{'code':'insufficient_quota'}},BILLING,false",
    "openai,429,{'error':{'code':'rate_limit_exceeded'}},RATE_LIMITED,true",
    "openai,503,{'error':{'message':'slow down'}},OVERLOADED,true",
    "openai,401,{'error':{'code':'invalid_api_key'}},ERROR,false",
    "openai,409,{},ERROR,true",
    "openai,200,{'error':null},OK,false",
    "openrouter,402,{'error':{'code':402}},BILLING,false",
    "openrouter,200,{'error':{'code':429}},RATE_LIMITED,true",
    "openrouter,200,{'error':{'code':502}},ERROR,true",
    "bedrock,429,{'__type':'com.amazon.coral#ThrottlingException'},RATE_LIMITED,true",
    "bedrock,400,{'__type':'ThrottlingException'},RATE_LIMITED,true",
    "bedrock,503,{'__type':'ServiceUnavailableException'},OVERLOADED,true",
    "bedrock,429,{'__type':'ModelNotReadyException'},OVERLOADED,true",
    "bedrock,400,{'__type':'ValidationException'},ERROR,false",
    "gemini,429,{'error':{'status':'RESOURCE_EXHAUSTED'}},RATE_LIMITED,true",
    "vertex,429,[{'error':{'status':'RESOURCE_EXHAUSTED'}}],RATE_LIMITED,true",
    "gemini,503,{'error':{'status':'UNAVAILABLE'}},OVERLOADED,true",
    "mistral,429,{'object':'error';'type':'rate_limited'},RATE_LIMITED,true",
    "xai,429,Too Many Requests,RATE_LIMITED,true",
    "generic,,,OK,false",
    "generic,599,<html>,ERROR,true",
    "generic,-7,,OK,false",
    "generic,99999,,ERROR,false"
  })
  void shouldTellWhatAnErrorMeans(
      String provider, Integer status, String body, AnswerClass kind, boolean retry) {
    // when
    ProviderReading reading =
        Answers.answer(status).body(body == null ? "" : body.replace(';', ',')).readBy(provider);

    // then
    assertThat(reading.kind()).isEqualTo(kind);
    assertThat(reading.retry()).isEqualTo(retry);
    assertThat(reading.waitMs()).isNull();
  }

  @Test
  void shouldHonourWhatTheProviderSaysOfRetries() {
    assertThat(Answers.answer(400).header("x-should-retry", "true").readBy("openai").retry())
        .isTrue();
    assertThat(Answers.answer(429).header("x-should-retry", "false").readBy("openai").retry())
        .isFalse();
    assertThat(Answers.answer(402).header("x-should-retry", "true").readBy("openai").retry())
        .as("a bill is not paid by trying again")
        .isFalse();
  }

  @Test
  void shouldReadTheNumbersInAMessageOfOpenAi() {
    // when
    ProviderReading told =
        Answers.answer(429)
            .header("x-ratelimit-remaining-tokens", "2100")
            .header("x-ratelimit-reset-tokens", "57s")
            .body(OPENAI_TPM.formatted(" Please try again in 1.146s."))
            .readBy("openai");
    ProviderReading computed = Answers.answer(429).body(OPENAI_TPM.formatted("")).readBy("openai");

    // then: (47949 + 3006 - 50000) / (50000 / 60)
    assertThat(told.waitMs()).isEqualTo(1_146);
    assertThat(computed.waitMs()).isEqualTo(1_146);
    assertThat(told.limits().get(Dimension.TOKENS)).isEqualTo(perMinute(50_000L, 2_051L, 57_000L));
    assertThat(told.binding()).isEqualTo(Dimension.TOKENS);
  }

  @Test
  void shouldTakeALimitPerDayInAMessageAsADailyQuota() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .body(
                "{'error':{'type':'requests','code':'rate_limit_exceeded','message':'Rate limit reached"
                    + " on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again"
                    + " in 7m12s.'}}")
            .readBy("openai");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.DAILY_QUOTA);
    assertThat(reading.retry()).isFalse();
    assertThat(reading.waitMs()).isEqualTo(432_000);
    assertThat(reading.binding()).isEqualTo(Dimension.REQUESTS);
  }

  @Test
  void shouldFindARequestThatNeverFitsWhateverWasUsed() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .body(
                "{'error':{'type':'tokens','message':'on tokens per minute (TPM): Limit 7000, Used 0,"
                    + " Requested ~12903. Please try again in 50.597142857s.'}}")
            .readBy("groq");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.NEVER_FITS);
    assertThat(reading.waitMs()).isNull();
  }

  @Test
  void shouldTakeTheExhaustedDimensionOfOpenAiAndNotTheFirstHeader() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("x-ratelimit-limit-requests", "500")
            .header("x-ratelimit-remaining-requests", "499")
            .header("x-ratelimit-reset-requests", "120ms")
            .header("x-ratelimit-limit-tokens", "30000")
            .header("x-ratelimit-remaining-tokens", "0")
            .header("x-ratelimit-reset-tokens", "6m0s")
            .readBy("openai");

    // then
    assertThat(reading.binding()).isEqualTo(Dimension.TOKENS);
    assertThat(reading.waitMs()).isEqualTo(360_000);
  }

  @Test
  void shouldTellARequestsLimitPerDayFromOnePerMinuteByItsReset() {
    // when
    ProviderReading perDay =
        Answers.answer(200)
            .header("x-ratelimit-limit-requests", "200")
            .header("x-ratelimit-remaining-requests", "197")
            .header("x-ratelimit-reset-requests", "20m52.666s")
            .readBy("openai");
    ProviderReading exhausted =
        Answers.answer(429)
            .header("x-ratelimit-limit-requests", "200")
            .header("x-ratelimit-remaining-requests", "0")
            .header("x-ratelimit-reset-requests", "23h47m36.648s")
            .readBy("openai");

    // then
    assertThat(perDay.limits().get(Dimension.REQUESTS).window()).isEqualTo(Limit.DAY);
    assertThat(exhausted.kind()).isEqualTo(AnswerClass.DAILY_QUOTA);
    assertThat(exhausted.waitMs()).isEqualTo(85_656_648);
  }

  @Test
  void shouldReadAzuresMillisecondsAndItsOlderSeconds() {
    // when
    ProviderReading now =
        Answers.answer(200)
            .header("x-ratelimit-remaining-requests", "119")
            .header("x-ratelimit-reset-requests", "500")
            .header("x-ratelimit-renewalperiod-requests", "60")
            .readBy("azure");
    ProviderReading older =
        Answers.answer(429)
            .header("x-rate-limit-reset-tokens", "55")
            .body("{'error':{'code':'429','message':'exceeded token rate limit'}}")
            .readBy("azure");

    // then
    assertThat(now.limits())
        .containsExactly(Map.entry(Dimension.REQUESTS, perMinute(null, 119L, 500L)));
    assertThat(older.waitMs()).isEqualTo(55_000);
    assertThat(older.binding()).isEqualTo(Dimension.TOKENS);
  }

  @ParameterizedTest
  @CsvSource({
    "60, 60",
    "10, 10",
    "1, 1",
    "0, 60",
    "-1, 60",
    "soon, 60",
    "1e9, 60",
    "999999999, 60"
  })
  void shouldReadAzuresLimitOverItsRenewalPeriod(String period, long seconds) {
    // when
    ProviderReading reading =
        Answers.answer(200)
            .header("x-ratelimit-limit-requests", "20")
            .header("x-ratelimit-remaining-requests", "19")
            .header("x-ratelimit-renewalperiod-requests", period)
            .header("x-ratelimit-remaining-tokens", "900")
            .readBy("azure");

    // then
    assertThat(reading.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(20L, 19L, null, Duration.ofSeconds(seconds)));
    assertThat(reading.limits().get(Dimension.TOKENS)).isEqualTo(perMinute(null, 900L, null));
  }

  @Test
  void shouldReadBedrocksUsageInHeaders() {
    // when
    ProviderReading reading =
        Answers.answer(200)
            .header("X-Amzn-Bedrock-Input-Token-Count", "20")
            .header("X-Amzn-Bedrock-Output-Token-Count", "72")
            .header("X-Amzn-Bedrock-Cache-Read-Input-Token-Count", "7")
            .header("X-Amzn-Bedrock-Cache-Write-Input-Token-Count", "8")
            .readBy("bedrock");

    // then
    assertThat(reading.usage()).isEqualTo(new ProviderUsage(20L, 7L, 8L, 72L, true));
  }

  @ParameterizedTest
  @CsvSource({
    "GenerateContentOutputTokensPerModelPerMinute, OUTPUT_TOKENS",
    "GenerateContentInputTokensPerModelPerMinute, INPUT_TOKENS",
    "GenerateContentPaidTierInputTokensPerModelPerMinute, INPUT_TOKENS",
    "GenerateRequestsPerMinutePerProjectPerModel, REQUESTS"
  })
  void shouldTellWhatAGeminiQuotaLimits(String quotaId, Dimension dimension) {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .body(
                "{'error':{'status':'RESOURCE_EXHAUSTED','details':[{'violations':[{'quotaId':'"
                    + quotaId
                    + "','quotaValue':'1000'}]}]}}")
            .readBy("gemini");

    // then
    assertThat(reading.binding()).isEqualTo(dimension);
    assertThat(reading.limits())
        .containsExactly(Map.entry(dimension, perMinute(1_000L, null, null)));
  }

  @Test
  void shouldTakeGroqsRequestsAsPerDay() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("x-ratelimit-limit-requests", "14400")
            .header("x-ratelimit-remaining-requests", "0")
            .header("x-ratelimit-reset-requests", "2m59.56s")
            .header("x-ratelimit-remaining-tokens", "5987")
            .readBy("groq");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.DAILY_QUOTA);
    assertThat(reading.waitMs()).isEqualTo(179_560);
  }

  @Test
  void shouldPreferTheLimitOverAMinuteOfSeveral() {
    // given
    Answers mistral =
        Answers.answer(429)
            .header("x-ratelimit-limit-req-10-second", "60")
            .header("x-ratelimit-remaining-req-10-second", "59")
            .header("x-ratelimit-limit-tokens-month", "10000000000")
            .header("x-ratelimit-remaining-tokens-month", "0")
            .header("x-ratelimit-limit-tokens-minute", "2000000")
            .header("x-ratelimit-remaining-tokens-minute", "1999370")
            .header("x-ratelimit-tokens-query-cost", "110");

    // when
    ProviderReading reading = mistral.readBy("mistral");

    // then
    assertThat(reading.limits().get(Dimension.TOKENS))
        .isEqualTo(perMinute(2_000_000L, 1_999_370L, null));
    assertThat(reading.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(60L, 59L, null, Duration.ofSeconds(10)));
    assertThat(reading.kind()).as("the month is used up").isEqualTo(AnswerClass.QUOTA_EXHAUSTED);
  }

  @Test
  void shouldReadCerebrasSeconds() {
    // when
    ProviderReading reading =
        Answers.answer(429)
            .header("x-ratelimit-limit-requests-day", "14400")
            .header("x-ratelimit-remaining-requests-day", "14399")
            .header("x-ratelimit-reset-requests-day", "33011.382867")
            .header("x-ratelimit-remaining-tokens-minute", "0")
            .header("x-ratelimit-reset-tokens-minute", "11.4")
            .readBy("cerebras");

    // then
    assertThat(reading.kind()).isEqualTo(AnswerClass.RATE_LIMITED);
    assertThat(reading.waitMs()).isEqualTo(11_400);
    assertThat(reading.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(14_400L, 14_399L, 33_011_383L, Limit.DAY));
  }

  @Test
  void shouldStopForAQuotaPerDayOfGeminiAndWaitForOnePerMinute() {
    // given
    String body =
        "{'error':{'code':429,'status':'RESOURCE_EXHAUSTED','message':'m','details':["
            + "{'@type':'type.googleapis.com/google.rpc.QuotaFailure','violations':["
            + "{'quotaId':'Generate%sPerProjectPerModel-FreeTier','quotaValue':'50'}]},"
            + "{'@type':'type.googleapis.com/google.rpc.RetryInfo','retryDelay':'34.074824224s'}]}}";

    // when
    ProviderReading perDay =
        Answers.answer(429).body(body.formatted("RequestsPerDay")).readBy("gemini");
    ProviderReading perMinute =
        Answers.answer(429)
            .body(body.formatted("ContentInputTokensPerModelPerMinute"))
            .readBy("vertex");

    // then: midnight in Los Angeles
    assertThat(perDay.kind()).isEqualTo(AnswerClass.DAILY_QUOTA);
    assertThat(perDay.resetAt()).isEqualTo(Instant.parse("2026-08-28T07:00:00Z"));
    assertThat(perDay.binding()).isEqualTo(Dimension.REQUESTS);
    assertThat(perMinute.kind()).isEqualTo(AnswerClass.RATE_LIMITED);
    assertThat(perMinute.waitMs()).isEqualTo(34_075);
    assertThat(perMinute.limits().get(Dimension.INPUT_TOKENS))
        .isEqualTo(perMinute(50L, null, null));
  }

  @Test
  void shouldReadTheTextOfBedrock() {
    assertThat(bedrock("Too many tokens, please wait before trying again.").binding())
        .isEqualTo(Dimension.TOKENS);
    assertThat(bedrock("Too many requests, please wait before trying again.").binding())
        .isEqualTo(Dimension.REQUESTS);
    assertThat(bedrock("Too many tokens per day, please wait before trying again.").kind())
        .isEqualTo(AnswerClass.DAILY_QUOTA);
  }

  private static ProviderReading bedrock(String message) {
    return Answers.answer(429)
        .header("x-amzn-ErrorType", "ThrottlingException:http://internal.amazon.com/coral/")
        .body("{'message':'" + message + "'}")
        .readBy("bedrock");
  }

  @ParameterizedTest
  @ValueSource(strings = {"together", "replicate", "something-else"})
  void shouldReadCommonHeadersOfAnyOtherProvider(String provider) {
    // when
    ProviderReading together =
        Answers.answer(200)
            .header("x-ratelimit-limit", "2")
            .header("x-ratelimit-remaining", "1")
            .header("x-ratelimit-reset", "2")
            .readBy(provider);
    ProviderReading replicate =
        Answers.answer(200)
            .header("ratelimit-remaining", "2999")
            .header("ratelimit-reset", "1")
            .readBy(provider);
    ProviderReading ietf =
        Answers.answer(200)
            .header("RateLimit", "\"burst\";r=9;t=1, \"api\";r=999;t=295")
            .header(
                "RateLimit-Policy", "\"burst\";q=10;w=1;qu=\"content-bytes\", \"api\";q=1000;w=300")
            .readBy(provider);

    // then
    assertThat(together.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(2L, 1L, 2_000L, null));
    assertThat(replicate.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(null, 2_999L, 1_000L, null));
    assertThat(ietf.limits().get(Dimension.REQUESTS))
        .isEqualTo(new LimitReading(1_000L, 999L, 295_000L, Duration.ofMinutes(5)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'input_tokens':3,'output_tokens':5}|3||| 5",
        "{'input_tokens':3,'cache_creation':{'ephemeral_5m_input_tokens':4,'ephemeral_1h_input_tokens':6}}|3||10|",
        "{'prompt_tokens':9,'completion_tokens':2,'prompt_cache_hit_tokens':4,'prompt_cache_miss_tokens':5}|5|4||2",
        "{'prompt_tokens':194,'completion_tokens':2,'prompt_tokens_details':{'cached_tokens':10,'cache_write_tokens':100}}|84|10|100|2",
        "{'prompt_tokens':5,'prompt_tokens_details':{'cached_tokens':8}}|5|8||",
        "{'prompt_tokens':32,'completion_tokens':9,'total_tokens':135,'completion_tokens_details':{'reasoning_tokens':94}}|32|||103",
        "{'prompt_tokens':32,'completion_tokens':99,'total_tokens':171,'completion_tokens_details':{'reasoning_tokens':40}}|32|||139",
        "{'prompt_tokens':32,'completion_tokens':9,'completion_tokens_details':{'reasoning_tokens':94}}|32|||103",
        "{'prompt_tokens':32,'completion_tokens':99,'total_tokens':131,'completion_tokens_details':{'reasoning_tokens':40}}|32|||99",
        "{'prompt_tokens':32,'completion_tokens':99,'completion_tokens_details':{'reasoning_tokens':40}}|32|||99",
        "{'prompt_tokens':32,'completion_tokens':99,'total_tokens':140,'completion_tokens_details':{'reasoning_tokens':40}}|32|||99",
        "{'input_tokens':32,'input_tokens_details':{'cached_tokens':2},'output_tokens':9,'total_tokens':135,'output_tokens_details':{'reasoning_tokens':94}}|30|2||103",
        "{'inputTokens':20,'outputTokens':72,'cacheReadInputTokens':7,'cacheWriteInputTokens':8}|20|7|8|72",
        "{'prompt_tokens':-1,'completion_tokens':1.5e99}||||",
        "{'prompt_tokens':'12','completion_tokens':'x'}|12|||",
        "{'total_tokens':12}||||",
        "'lots'||||",
        "[1]||||"
      })
  void shouldReadUsageOfAnyShape(
      String usage, Long input, Long cacheRead, Long cacheWrite, Long output) {
    // when
    ProviderUsage read =
        Answers.answer(200).body("{'usage':" + usage + "}").readBy("generic").usage();

    // then
    boolean unknown = input == null && cacheRead == null && cacheWrite == null && output == null;
    assertThat(read)
        .usingRecursiveComparison()
        .ignoringFields("cacheTtlMs")
        .isEqualTo(unknown ? null : new ProviderUsage(input, cacheRead, cacheWrite, output, true));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'input_tokens':3,'cache_creation_input_tokens':6,'cache_creation':{'ephemeral_5m_input_tokens':0,'ephemeral_1h_input_tokens':6}}|3600000",
        "{'input_tokens':3,'cache_creation':{'ephemeral_5m_input_tokens':4,'ephemeral_1h_input_tokens':6}}|300000",
        "{'input_tokens':3,'cache_creation_input_tokens':4,'cache_creation':{'ephemeral_5m_input_tokens':4}}|300000",
        "{'input_tokens':3,'cache_creation':{'ephemeral_5m_input_tokens':0,'ephemeral_1h_input_tokens':0}}|",
        "{'input_tokens':3,'cache_creation_input_tokens':4}|"
      })
  void shouldReadHowLongACacheIsKept(String usage, Long ttlMs) {
    // when / then
    assertThat(
            Answers.answer(200)
                .body("{'usage':" + usage + "}")
                .readBy("anthropic")
                .usage()
                .cacheTtlMs())
        .isEqualTo(ttlMs);
  }

  @Test
  void shouldReadGeminisThoughtsAndCacheAndBedrocksHeaders() {
    assertThat(
            Answers.answer(200)
                .body(
                    "{'usageMetadata':{'promptTokenCount':50,'cachedContentTokenCount':20,"
                        + "'toolUsePromptTokenCount':7,'candidatesTokenCount':877,'thoughtsTokenCount':1058}}")
                .readBy("gemini")
                .usage())
        .isEqualTo(new ProviderUsage(37L, 20L, null, 1_935L, true));
    assertThat(
            Answers.answer(200)
                .header("X-Amzn-Bedrock-Input-Token-Count", "12")
                .header("X-Amzn-Bedrock-Output-Token-Count", "34")
                .body("{'outputs':[]}")
                .readBy("bedrock")
                .usage())
        .isEqualTo(new ProviderUsage(12L, null, null, 34L, true));
  }

  @Test
  void shouldNotTakeUsageFromABodyThatBrokeOff() {
    assertThat(
            Answers.answer(200)
                .body("{'usage':{'prompt_tokens':12,'completion_tokens':4")
                .readBy("openai")
                .usage())
        .isNull();
    assertThat(
            Answers.answer(429)
                .body("{'error':{'code':'insufficient_quota','message':'You exc")
                .readBy("openai")
                .kind())
        .isEqualTo(AnswerClass.BILLING);
  }

  @Test
  void shouldMeasureByTheAnswersOwnDateWhereNowIsUnknown() {
    // when
    ProviderReading dated =
        Answers.answer(200)
            .at(null)
            .header("Date", "Mon, 23 Jun 2025 10:26:50 GMT")
            .header("anthropic-ratelimit-requests-reset", "2025-06-23T10:26:53Z")
            .readBy("anthropic");
    ProviderReading undated =
        Answers.answer(429)
            .at(null)
            .header("anthropic-ratelimit-requests-remaining", "0")
            .header("anthropic-ratelimit-requests-reset", "2025-06-23T10:26:53Z")
            .readBy("anthropic");

    // then
    assertThat(dated.limits().get(Dimension.REQUESTS).resetMs()).isEqualTo(3_000);
    assertThat(undated.limits().get(Dimension.REQUESTS).resetMs()).isNull();
    assertThat(undated.waitMs()).isNull();
    assertThat(undated.resetAt()).isEqualTo(Instant.parse("2025-06-23T10:26:53Z"));
  }

  @Test
  void shouldFindAProfileByItsNameInAnyCase() {
    assertThat(ProviderProfiles.of("OpenAI").name()).isEqualTo("openai");
    assertThat(ProviderProfiles.of("unheard-of").name()).isEqualTo("generic");
    assertThat(ProviderProfiles.of(null).name()).isEqualTo("generic");
    assertThat(ProviderProfiles.names())
        .containsExactly(
            "anthropic",
            "azure",
            "bedrock",
            "cerebras",
            "gemini",
            "generic",
            "groq",
            "mistral",
            "openai",
            "openrouter",
            "vertex");
  }

  private static LimitReading perMinute(Long limit, Long remaining, Long resetMs) {
    return new LimitReading(limit, remaining, resetMs, Limit.MINUTE);
  }
}
