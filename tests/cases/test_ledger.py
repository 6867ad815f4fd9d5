"""What stands for each fault that the systems before this one had (L1-L60), and for each case that is a test.

The numbers are those of the lists that this project began with; many tests carry them in their names. What is not built
yet, or was built in a way that the fault cannot have, says so and which part of the work brings it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

DELETED, INJECTED = "cases/test_what_is_deleted.py", "cases/test_what_is_injected.py"
KEPT, LEARNED, CARRIED = (f"cases/test_what_{does}.py" for does in ("is_kept", "is_learned", "goes_over_the_wire"))
BELIEVED = "cases/test_what_is_believed.py"
API, PEOPLE, OWNED = (f"integration/test_{name}.py" for name in ("api", "people", "ownership"))
LIVES, TIMES, DISPUTES = (f"integration/test_{name}.py" for name in ("lives", "times", "disputes"))
LEARNING, SEGMENTS, GATE = (f"integration/test_{name}.py" for name in ("learning", "segments", "merge_gate"))
CHATS, TROUBLE, RELAY = (f"integration/test_{name}.py" for name in ("conversations", "store_trouble", "relay"))
SUMMARIES = "integration/test_summaries.py"
NEEDLESS = "integration/test_needless.py"
ANSWERS, SERVE = "integration/test_transport_answers.py", "integration/test_serve.py"
RECONCILE, HISTORY, AS_OF = (f"properties/test_{name}.py" for name in ("reconcile", "history", "facts_over_time"))
ROWS, SEARCH, ERASURE = (f"contracts/test_store_{name}.py" for name in ("rows", "search", "erasure"))
LOCAL = "unit/embedders/test_embedders_local.py"
REEMBEDDED = "integration/test_reembedding.py"
CHAT_MODELS, EMBEDDERS = "contracts/test_chat_providers.py", "contracts/test_embedding_providers.py"
(
    DATES,
    DRAFTS,
    EXTRACT,
    PROMPT,
    WINDOWS,
    LIFETIMES,
    SLOTS,
    STANDING,
    INLINE,
    PACKS,
    CLASHES,
    GUARDS,
    REJECTED,
    OWN_WORDS,
) = (
    f"unit/extraction/test_extraction_{name}.py"
    for name in (
        "dates drafts extract prompt windows lifetimes slots standing inline packs collisions guards guards_reject "
        "guards_keep"
    ).split()
)
TERMS, QUERY, RANKING, AGEING = (
    f"unit/recall/test_recall_{name}.py" for name in ("terms", "query", "ranking", "ageing")
)
RENDER, CALLS = "unit/context/test_context_render.py", "unit/providers/test_providers_client.py"
SECRETS, COMMANDS = "unit/trust/test_trust_secrets.py", "unit/trust/test_trust_instructions.py"

BY_MEANING = f"{LEARNED}::test_what_a_model_makes_of_what_is_said_is_stored_only_where_it_was_said"
READ = f"{LEARNED}::test_b_a_reply_around_which_a_model_talks_is_still_read"
READ_AROUND = f"{PROMPT}::test_a_fact_is_read_whatever_surrounds_it"
KEPT_OUT = f"{REJECTED}::test_it_is_kept_out_with_its_reason"
KEPT_WORDS = f"{OWN_WORDS}::test_an_ordinary_statement_is_kept"
APART = f"{RECONCILE}::test_numbers_negations_names_people_tenses_and_order_keep_statements_apart"
SAME = f"{RECONCILE}::test_the_same_liking_said_four_ways_is_one_fact"
NO_GAP = f"{RECONCILE}::test_nothing_is_lost_each_statement_has_a_row_that_says_it"
NEW_VALUE = f"{RECONCILE}::test_a_new_value_of_a_single_slot_supersedes_the_old"
ONCE = f"{ROWS}::test_a_session_reinforces_a_fact_once"
ERASED = f"{DELETED}::test_l56_after_an_erasure_no_byte_of_the_person_is_in_any_file"

Stands = list[str] | str  # tests, or why there is none

LEDGER: dict[str, Stands] = {
    "L1": [
        f"{AS_OF}::test_as_of_returns_what_was_believed_then_after_any_history",
        f"{PEOPLE}::test_what_was_believed_at_another_moment_can_be_listed",
    ],
    "L2": [
        f"{BELIEVED}::test_l2_and_l57_the_same_in_another_category_is_one_row_and_its_tag_stays",
        SAME,
        f"{API}::test_the_same_statement_twice_is_one_row_and_says_so",
    ],
    "L3": [
        f"{INLINE}::test_l3_a_long_message_raises_at_most_three_each_attribute_once",
        f"{INLINE}::test_everything_else_is_silence",
        f"{GUARDS}::test_l3_facts_of_the_moment_end_by_themselves",
    ],
    "L4": [f"{BELIEVED}::test_l4_nearness_is_no_sameness", f"{RECONCILE}::test_nearness_alone_never_merges", APART],
    "L5": [f"{DISPUTES}::test_l5_the_same_said_again_is_one_contradiction_seen_twice"],
    "L6": [f"{SUMMARIES}::test_l6_going_on_later_replaces_the_summary_and_the_conversations_have_one_each"],
    "L7": [f"{TIMES}::test_l7_and_l15_a_timeline_answers_who_came_first_and_how_long_ago"],
    "L8": [
        f"{LEARNING}::test_l8_a_temporary_fact_ends_thirty_days_after_it_was_last_said_and_reading_does_not_keep_it",
        f"{LEARNING}::test_l8_a_pinned_fact_does_not_end",
        f"{LIFETIMES}::test_l8_a_temporary_fact_without_an_end_ends_thirty_days_after_it_was_said",
        f"{DATES}::test_l8_what_lasts_for_a_while_is_temporary",
    ],
    "L9": [
        f"{DISPUTES}::test_l9_a_collision_is_settled_with_a_side_and_its_residue_shrinks",
        f"{DISPUTES}::test_l9_what_was_settled_is_never_raised_again",
        f"{DISPUTES}::test_l9_settling_needs_a_side_of_the_family",
        f"{CLASHES}::test_l9_one_subject_on_two_sides_clashes_and_two_subjects_do_not",
    ],
    "L10": [
        f"{GATE}::test_without_a_verdict_both_are_kept_and_the_history_says_why",
        f"{GATE}::test_two_things_that_only_sound_alike_are_both_kept",
        f"{GATE}::test_a_changed_value_replaces_the_old_one",
    ],
    "L11": [
        f"{DISPUTES}::test_l11_a_hold_lapses_when_the_value_moves",
        f"{DISPUTES}::test_a_hold_stays_while_nothing_moves_and_a_resolved_one_cannot_be_held",
        f"{DISPUTES}::test_a_decision_that_names_no_winner_is_refused",
    ],
    "L12": [
        f"{EXTRACT}::test_l12_nothing_is_taken_from_a_cut_answer_that_can_be_asked_for_in_parts",
        f"{EXTRACT}::test_l12_a_part_that_cannot_get_smaller_gets_twice_the_limit_and_then_its_whole_facts_count",
    ],
    "L13": [
        f"{LEARNED}::test_l13_a_model_that_spends_its_words_on_thoughts_is_asked_again_with_more_room",
        f"{EXTRACT}::test_l13_a_model_that_never_answers_is_a_failure_and_not_nothing_to_remember",
        f"{CHAT_MODELS}::test_l13_thoughts_alone_are_no_answer",
        f"{CALLS}::test_l13_an_answer_without_a_word_is_an_error",
    ],
    "L14": [
        f"{RENDER}::test_a_block_has_its_sections_in_order_and_days_as_headings",
        f"{RENDER}::test_what_does_not_fit_is_passed_over_and_smaller_may_follow",
    ],
    "L15": [f"{TIMES}::test_l7_and_l15_a_timeline_answers_who_came_first_and_how_long_ago"],
    "L16": [
        f"{LEARNING}::test_an_open_thread_is_resolved_by_what_is_said_later",
        f"{TIMES}::test_l7_and_l15_a_timeline_answers_who_came_first_and_how_long_ago",
    ],
    "L17": [
        f"{BELIEVED}::test_l17_a_day_is_that_day_wherever_the_server_stands",
        f"{TIMES}::test_a_day_is_the_same_day_wherever_it_is_shown",
        f"{LEARNING}::test_yesterday_is_the_day_before_where_the_person_is_whenever_it_is_learned",
    ],
    "L18": [f"{EMBEDDERS}::test_l18_of_each_new_text_one_vector_is_made"],
    "L19": [
        f"{WINDOWS}::test_every_turn_is_in_one_window_in_order_and_no_window_is_over_its_size",
        f"{LEARNING}::test_a_long_batch_is_split_and_a_longer_turn_keeps_head_and_tail",
    ],
    "L20": [
        f"{SEGMENTS}::test_l20_a_history_brought_in_bulk_keeps_its_dates_and_costs_few_calls",
        f"{CHATS}::test_imported_history_is_stored_once_with_its_own_dates",
    ],
    "L21": [
        f"{RANKING}::test_l21_a_common_word_brings_up_nothing_by_itself",
        f"{SEARCH}::test_the_rarest_words_come_first_then_the_newest",
        f"{RANKING}::test_one_clear_match_does_not_drag_in_the_unrelated",
    ],
    "L22": [
        f"{RANKING}::test_l22_a_long_conversation_does_not_crowd_out_the_others",
        f"{RANKING}::test_turns_beside_a_good_one_gain",
    ],
    "L23": [KEPT_OUT, f"{REJECTED}::test_each_guard_has_many_variations", BY_MEANING],
    "L24": [f"{EMBEDDERS}::test_l24_texts_that_begin_alike_have_vectors_of_their_own"],
    "L25": [
        f"{CHATS}::test_the_same_first_message_long_after_begins_a_new_conversation",
        f"{HISTORY}::test_a_known_conversation_goes_on",
    ],
    "L26": [
        f"{HISTORY}::test_each_message_of_a_person_is_stored_exactly_once_however_its_history_comes_back",
        f"{HISTORY}::test_a_named_conversation_takes_the_same_words_twice_once_something_followed",
        f"{HISTORY}::test_a_client_that_drops_its_oldest_messages_says_nothing_twice",
        f"{CHATS}::test_an_edited_message_begins_a_conversation_of_its_own",
        f"{CHATS}::test_a_regenerated_answer_is_kept_beside_the_first_and_teaches_nothing_twice",
    ],
    "L27": [
        f"{SLOTS}::test_l27_wordings_of_one_attribute_are_one",
        f"{RECONCILE}::test_slots_that_mean_the_same_are_one",
    ],
    "L28": [
        f"{BELIEVED}::test_l28_an_old_allergy_is_found_among_five_thousand_facts",
        f"{AGEING}::test_what_matters_most_does_not_age",
        f"{TIMES}::test_a_small_fact_of_long_ago_gives_way_to_a_fresh_one",
    ],
    "L29": [
        f"{SEARCH}::test_vectors_of_another_model_are_not_compared",
        f"{SEARCH}::test_another_models_vectors_take_their_place_once_all_are_there",
        f"{REEMBEDDED}::test_l29_and_k1_the_old_vectors_serve_until_the_new_ones_are_made",
        f"{REEMBEDDED}::test_k3_without_the_old_model_words_serve_and_it_is_said",
        f"{DELETED}::test_h8_deleting_needs_no_embedding_and_removes_what_it_reports",
    ],
    "L30": [
        f"{KEPT}::test_e6_a_slow_extraction_delays_nobody",
        f"{ROWS}::test_the_same_work_asked_twice_is_one_job",
    ],
    "L31": [
        "contracts/test_resident.py::test_those_who_spoke_last_stay_and_a_memory_without_room_is_never_held",
        "unit/lifecycle/test_lifecycle_credentials.py::test_no_more_are_kept_than_fit",
        f"{ROWS}::test_receipts_are_bounded_in_time_and_number",
    ],
    "L32": [
        f"{RELAY}::test_connections_are_kept_between_requests",
        f"{CHAT_MODELS}::test_l32_calls_one_after_the_other_share_a_connection",
        f"{EMBEDDERS}::test_l32_calls_one_after_the_other_share_a_connection",
    ],
    "L33": [f"{RELAY}::test_path_and_query_go_up_verbatim_under_the_targets_own_path"],
    "L34": [f"{KEPT}::test_n5_compressed_answers_arrive_as_they_were_sent_and_are_understood"],
    "L35": [
        "unit/wire/test_wire_messages.py::test_all_other_bytes_stay_as_they_were",
        "unit/wire/test_wire_gemini.py::test_all_other_bytes_stay_as_they_were",
        "integration/test_client_anthropic.py::test_cached_system_blocks_stay_first_and_no_breakpoint_is_added",
    ],
    "L36": [
        "unit/wire/test_wire_chat_completions.py::test_a_request_is_read_as_far_as_memory_needs_it",
        "conformance/test_reported.py::test_an_odd_request_goes_up_as_it_is_and_with_its_block",
    ],
    "L37": [
        f"{HISTORY}::test_a_conversation_replayed_whole_any_number_of_times_is_stored_once",
        f"{CHATS}::test_a_first_contact_with_a_long_history_stores_only_what_is_new",
    ],
    "L38": [
        f"{CHATS}::test_two_parallel_chats_of_one_person_stay_two",
        f"{CHATS}::test_a_named_conversation_is_taken_by_its_name",
    ],
    "L39": [
        f"{BELIEVED}::test_l39_a_conversation_that_is_sent_whole_each_time_counts_a_fact_once",
        f"{CHATS}::test_each_turn_is_offered_once_even_when_extraction_runs_after_every_turn",
        ONCE,
    ],
    "L40": [
        f"{ANSWERS}::test_refusals_pass_with_every_header_and_nothing_is_learned",
        "unit/wire/test_wire_replies.py::"
        "test_a_line_of_many_megabytes_is_read_in_linear_time_and_what_is_longer_is_left_out",
    ],
    "L41": [f"{CHATS}::test_a_tool_loop_is_one_turn"],
    "L42": [
        f"{SERVE}::test_ctrl_c_lets_a_stream_under_way_finish",
        f"{SERVE}::test_ctrl_c_drains_and_exits_cleanly_and_a_second_start_goes_on",
        f"{RELAY}::test_recording_that_fails_costs_the_client_nothing",
    ],
    "L43": [
        f"{LIFETIMES}::test_l43_saying_it_again_extends_and_never_shortens",
        f"{LIVES}::test_a_pinned_holiday_stays_until_it_is_unpinned_and_confirmed_it_lasts",
    ],
    "L44": [
        f"{LEARNING}::test_l44_going_back_makes_the_old_value_current_again_with_a_history_of_all_three",
        f"{RECONCILE}::test_going_back_makes_the_old_value_current_again",
    ],
    "L45": [
        f"{BELIEVED}::test_l45_what_took_the_place_of_a_fact_is_there_or_named_no_more",
        f"{ROWS}::test_an_erased_fact_leaves_only_where_it_stood",
        NEW_VALUE,
        NO_GAP,
    ],
    "L46": [
        f"{SLOTS}::test_l46_plural_attributes_have_no_single_value",
        f"{RECONCILE}::test_several_values_of_a_plural_slot_are_all_current",
    ],
    "L47": [f"{SUMMARIES}::test_l47_a_conversation_with_nothing_to_say_of_is_asked_for_once_and_starves_no_other"],
    "L48": [
        f"{LEARNED}::test_l48_words_in_any_script_are_worth_a_call",
        f"{WINDOWS}::test_anything_that_may_say_something_is_not",
    ],
    "L49": [f"{LEARNED}::test_l49_a_prediction_keeps_its_tag"],
    "L50": [
        f"{SERVE}::test_after_kill_9_no_fully_received_turn_is_missing_and_none_is_double",
        f"{ROWS}::test_a_job_whose_lease_ran_out_is_taken_over_and_the_old_attempt_counts_no_more",
        f"{KEPT}::test_e1_a_failed_extraction_is_tried_again_until_its_fact_is_stored_once",
    ],
    "L51": [
        f"{EMBEDDERS}::test_l51_one_text_that_is_refused_never_fails_its_batch",
        f"{EMBEDDERS}::test_l51_a_text_that_is_too_long_is_shortened",
        "unit/embedders/test_embedders_each.py::test_l51_one_text_that_fails_does_not_fail_its_batch",
    ],
    "L52": [
        f"{AGEING}::test_weight_falls_with_age_and_never_below_what_is_kept"
    ],  # no archive: nothing is out of reach
    "L53": [
        f"{PACKS}::test_l53_what_is_no_health_statement_of_the_person_is_left_alone",
        f"{PACKS}::test_a_goal_is_no_measurement",
    ],
    "L54": [
        "integration/test_reflection.py::test_l54_a_conflict_is_decided_and_the_decision_applied",
        f"{DISPUTES}::test_deciding_for_what_is_stored_leaves_it_and_the_other_is_never_true",
    ],
    "L55": [
        f"{BELIEVED}::test_l55_what_takes_a_place_has_its_own_dates",
        NEW_VALUE,
        f"{LIVES}::test_every_move_is_dated_and_going_back_is_one_more",
    ],
    "L56": [
        ERASED,
        f"{DELETED}::test_l56_removed_turns_leave_no_words_in_rows_that_can_be_read",
        f"{ERASURE}::test_a_byte_search_of_all_files_finds_nothing_of_the_erased",
    ],
    "L57": [f"{BELIEVED}::test_l2_and_l57_the_same_in_another_category_is_one_row_and_its_tag_stays"],
    "L58": [
        f"{OWNED}::test_l58_an_id_of_somebody_else_is_not_there_and_nothing_happens",
        f"{OWNED}::test_l58_an_id_that_nobody_has_matches_nothing_and_says_so",
        f"{OWNED}::test_l58_a_key_reaches_no_route_of_somebody_else",
        f"{OWNED}::test_l58_what_concerns_everybody_needs_an_admin_key",
    ],
    "L59": [
        f"{TERMS}::test_l59_may_the_verb_is_no_month",
        f"{QUERY}::test_l59_verbs_are_no_months",
        f"{DATES}::test_l59_words_that_only_look_like_times_are_none",
    ],
    "L60": [
        f"{LEARNED}::test_l60_pasted_instructions_are_held_as_well",
        f"{COMMANDS}::test_a_command_to_the_model_is_recognised",
        f"{INJECTED}::test_j6_and_j8_instruction_shaped_memory_is_kept_back",
        f"{PEOPLE}::test_a_correction_shaped_like_an_instruction_is_held_back",
    ],
}

CASES: dict[str, Stands] = {
    "A1": [
        f"{LEARNED}::test_a1_system_text_is_never_offered_to_extraction",
        f"{LEARNED}::test_a1_a_greeting_costs_no_extraction_call",
        f"{LEARNED}::test_a1_identical_repeated_input_is_extracted_at_most_once",
        f"{LEARNED}::test_a1_an_operator_lists_patterns_to_ignore",
    ],
    "A3": [
        f"{LEARNED}::test_a3_memory_does_not_feed_on_itself",
        f"{LEARNED}::test_a3_a_block_that_the_client_echoes_is_cut_before_learning",
    ],
    "A5": [
        f"{LEARNED}::test_a5_the_assistants_words_are_no_facts_of_the_person",
        f"{PROMPT}::test_each_line_says_who_speaks_by_role_and_name",
    ],
    "A6": [
        f"{LEARNED}::test_a6_quoted_lines_of_the_assistant_are_not_offered",
        f"{GUARDS}::test_a6_the_assistants_words_letter_by_letter_are_not_the_persons",
    ],
    "A8": [
        BY_MEANING,
        KEPT_OUT,
        f"{GUARDS}::test_a8_somebody_whose_relation_was_told_in_another_turn_may_be_spoken_of",
    ],
    "A9": [
        f"{LEARNED}::test_a9_the_known_name_stays",
        f"{GUARDS}::test_a9_an_answer_to_the_question_for_a_name_gives_one",
        KEPT_OUT,
    ],
    "A10": [
        BY_MEANING,
        f"{GUARDS}::test_a10_agreeing_politely_takes_over_nothing_of_what_the_assistant_praised",
    ],
    "A11": [
        f"{LEARNED}::test_a11_a_front_ends_chore_is_relayed_and_nothing_else",
        f"{LEARNED}::test_a11_the_same_sentence_in_an_ordinary_chat_is_learned",
        "unit/test_chores.py::test_a_title_tag_or_follow_up_prompt_is_a_chore",
    ],
    "A13": [
        f"{LEARNED}::test_a13_the_prompts_own_examples_never_become_facts",
        f"{PROMPT}::test_the_prompt_says_that_examples_show_form_only",
        f"{DRAFTS}::test_an_example_that_the_person_really_says_is_kept",
    ],
    "A15": [
        f"{LEARNED}::test_a15_of_a_game_nothing_is_kept_but_what_is_said_when_it_pauses",
        f"{LEARNED}::test_a15_in_a_game_of_another_language_nothing_is_kept_either",
        f"{GUARDS}::test_a15_there_are_many_ways_to_leave_a_game",
        f"{GUARDS}::test_a15_a_game_that_is_taken_up_again_is_one",
    ],
    "A16": [BY_MEANING, KEPT_OUT, f"{GUARDS}::test_a16_what_the_person_says_around_pasted_text_counts"],
    "A18": [BY_MEANING, KEPT_OUT],
    "A19": [f"{LEARNED}::test_a19_in_a_shared_room_nobodys_words_become_the_account_holders"],
    "B1": [READ, READ_AROUND],
    "B3": [READ, READ_AROUND],
    "B4": [READ, READ_AROUND],
    "B6": [
        f"{LEARNED}::test_b6_of_a_cut_reply_only_complete_facts_are_taken_and_only_at_last",
        f"{PROMPT}::test_of_a_cut_reply_the_complete_facts_are_saved_and_never_the_stump",
    ],
    "B8": [
        READ,
        READ_AROUND,
        f"{PROMPT}::test_an_entry_that_cannot_be_read_comes_as_an_empty_text_to_be_counted",
    ],
    "B10": [
        f"{LEARNED}::test_b10_remarks_of_the_extractor_are_not_stored",
        f"{PROMPT}::test_prose_and_stumps_are_no_facts",
        f"{CHAT_MODELS}::test_b10_a_refusal_is_no_answer",
    ],
    "B12": [
        f"{LEARNED}::test_b12_an_operation_on_what_is_not_there_adds_its_text_and_stops_no_other",
        f"{EXTRACT}::test_b12_an_update_of_an_unknown_id_is_a_new_fact_and_a_deletion_is_none",
    ],
    "B14": [
        f"{LEARNED}::test_b14_an_option_that_the_server_refuses_is_left_out_and_remembered",
        f"{CHAT_MODELS}::test_b14_a_schema_that_is_refused_is_left_out_at_once_and_from_then_on",
        f"{CALLS}::test_the_finding_is_for_that_model_alone",
    ],
    "D1": [f"{KEPT}::test_d1_the_same_liking_said_four_ways_is_one_row", SAME],
    "D4": [
        f"{KEPT}::test_d4_twenty_identical_chats_at_once_leave_one_row",
        f"{API}::test_twenty_identical_creates_at_once_are_one_row_and_all_succeed",
    ],
    "D5": [
        f"{BELIEVED}::test_d5_two_servers_on_one_database_make_one_row_of_each_fact",
        f"{BELIEVED}::test_d5_ids_given_by_two_servers_at_once_are_of_rows_that_are_there",
        f"{TROUBLE}::test_two_processes_record_into_one_store",
        f"{ROWS}::test_of_twenty_equal_facts_stored_at_once_one_row_remains",
    ],
    "D6": [f"{KEPT}::test_d6_texts_that_differ_in_a_number_are_two_things", APART],
    "D8": [
        f"{BELIEVED}::test_d8_dated_readings_stand_side_by_side",
        APART,
        f"{RENDER}::test_d9_opposing_statements_are_not_folded",
    ],
    "D9": [
        f"{RENDER}::test_d9_near_copies_are_said_once_and_the_others_stay",
        f"{RENDER}::test_d9_opposing_statements_are_not_folded",
    ],
    "E1": [
        f"{KEPT}::test_e1_a_failed_extraction_is_tried_again_until_its_fact_is_stored_once",
        f"{KEPT}::test_e1_after_the_last_attempt_the_job_is_dead_visible_and_can_be_brought_back",
        f"{KEPT}::test_e1_nothing_to_remember_is_not_a_failure",
    ],
    "E3": [
        f"{KEPT}::test_e3_a_busy_model_is_waited_for_as_told_and_all_turns_are_learned",
        f"{KEPT}::test_e3_payment_and_key_errors_are_not_retried",
    ],
    "E5": [f"{SERVE}::test_ctrl_c_drains_and_exits_cleanly_and_a_second_start_goes_on"],
    "E6": [f"{KEPT}::test_e6_a_slow_extraction_delays_nobody"],
    "E8": [f"{KEPT}::test_e8_a_turn_that_arrives_during_an_extraction_is_learned_too"],
    "E9": [BY_MEANING, KEPT_WORDS],
    "E10": [
        f"{LEARNED}::test_e10_a_prompt_that_the_server_cut_is_no_empty_conversation",
        f"{EXTRACT}::test_e10_a_server_that_read_half_the_prompt_is_asked_again_in_parts",
        f"{EXTRACT}::test_e10_a_part_that_cannot_get_smaller_and_is_still_cut_is_a_failure",
    ],
    "F1": [
        f"{LEARNED}::test_f1_memories_are_in_the_language_of_the_person",
        f"{LEARNED}::test_f1_french_stays_french",
        f"{GUARDS}::test_f1_a_fact_in_another_script_is_kept_in_the_persons_words",
        f"{GUARDS}::test_f1_translations_are_counted",
    ],
    "F3": [f"{TERMS}::test_f3_identifiers_glued_to_han_text_are_found"],
    "F5": [
        f"{TERMS}::test_f5_accents_do_not_hide_a_word",
        f"{TERMS}::test_f5_the_exactly_accented_word_shares_more_terms",
    ],
    "F6": [
        f"{TERMS}::test_f6_vowel_marks_do_not_hide_a_word",
        f"{RENDER}::test_f6_stored_text_of_any_script_comes_out_as_it_is",
        f"{INJECTED}::test_j6_memory_text_cannot_forge_the_blocks_structure",
        "unit/recall/test_recall_passages.py::test_an_endless_line_is_cut_at_blanks_and_never_inside_a_joined_emoji",
    ],
    "F8": [BY_MEANING, KEPT_WORDS, APART],
    "G1": [
        f"{BELIEVED}::test_g1_a_change_of_mind_leaves_one_fact_and_its_history",
        f"{RECONCILE}::test_a_changed_liking_takes_the_place_of_the_old_one_which_stays_as_history",
    ],
    "G2": [
        f"{LIVES}::test_g2_of_rapid_corrections_the_last_holds",
        f"{LIVES}::test_g2_of_rapid_corrections_only_the_last_is_recalled",
        f"{LIVES}::test_what_is_put_right_in_the_same_breath_is_right",
        f"{GUARDS}::test_g2_a_name_that_is_corrected_in_a_word_is_theirs",
    ],
    "G4": [
        f"{BELIEVED}::test_g4_a_not_that_denies_nothing_takes_nothing_back",
        f"{RECONCILE}::test_a_statement_with_two_halves_is_kept_whole",
        f"{STANDING}::test_what_is_now",
    ],
    "G5": [
        f"{BELIEVED}::test_g5_what_is_no_longer_so_is_not_told_as_so",
        f"{STANDING}::test_what_is_over_or_is_not",
        f"{LIVES}::test_an_allergy_that_is_outgrown_and_comes_back",
        f"{TIMES}::test_what_held_once_is_told_where_the_past_is_asked_about_and_marked",
    ],
    "G7": [
        f"{BELIEVED}::test_g7_what_was_said_earlier_and_comes_later_overrules_nothing",
        f"{LIVES}::test_g7_what_was_said_again_since_is_not_overruled_by_what_comes_late",
        f"{LIVES}::test_jobs_told_out_of_order_find_their_place_in_time",
        f"{RECONCILE}::test_an_older_statement_that_arrives_later_does_not_overrule",
    ],
    "H1": [
        f"{KEPT}::test_h1_a_forgotten_fact_is_gone_everywhere_at_once",
        f"{DELETED}::test_h1_whichever_way_it_goes_all_views_agree_at_once",
        f"{DELETED}::test_h1_what_expires_takes_the_same_way",
        f"{DELETED}::test_h1_a_placed_block_goes_with_the_fact_it_quotes",
    ],
    "H4": [
        f"{DELETED}::test_h4_erasing_one_person_leaves_every_other_as_they_were",
        f"{DELETED}::test_h4_deleting_all_of_nobody_in_particular_is_refused",
    ],
    "H5": [
        f"{DELETED}::test_h5_a_summary_that_used_it_goes_in_the_same_operation",
        f"{DELETED}::test_h5_the_profile_keeps_nothing_of_a_fact_that_is_gone_or_corrected",
        f"{DELETED}::test_h5_a_fact_that_was_written_by_hand_takes_summaries_that_repeat_it",
    ],
    "H6": [
        f"{KEPT}::test_h6_a_job_queued_before_an_erasure_creates_nothing",
        f"{DELETED}::test_h6_what_was_under_way_creates_nothing_afterwards",
        f"{DELETED}::test_h6_what_was_denied_is_not_learned_again_when_the_conversation_comes_back",
        f"{ERASURE}::test_a_running_job_cannot_bring_erased_data_back",
    ],
    "H7": [
        f"{KEPT}::test_h7_an_edited_fact_is_not_found_by_its_old_words",
        f"{DELETED}::test_h7_an_edited_fact_is_not_found_by_its_old_words",
        f"{DELETED}::test_h7_a_delete_that_matches_nothing_says_so",
    ],
    "H8": [
        f"{DELETED}::test_h8_deleting_needs_no_embedding_and_removes_what_it_reports",
        f"{DELETED}::test_h8_rows_that_come_while_deleting_are_either_gone_or_whole",
    ],
    "J1": [
        f"{INJECTED}::test_j1_a_pasted_key_is_masked_before_anything_is_stored",
        f"{SECRETS}::test_a_credential_is_masked_wherever_it_stands",
        f"{API}::test_a_secret_in_a_fact_or_its_quote_is_masked",
    ],
    "J3": [
        f"{INJECTED}::test_j3_a_spoken_credential_is_not_stored",
        f"{LEARNED}::test_j3_spoken_credentials_are_not_stored",
        f"{SECRETS}::test_j3_a_value_named_in_another_language_is_masked",
    ],
    "J5": [f"{INJECTED}::test_j5_what_was_stored_before_it_was_known_as_a_secret_is_masked_on_the_way_out"],
    "J6": [
        f"{INJECTED}::test_j6_memory_text_cannot_forge_the_blocks_structure",
        f"{RENDER}::test_j6_an_item_is_one_line_and_can_forge_nothing",
    ],
    "J8": [
        f"{LEARNED}::test_j8_an_instruction_is_held_where_it_is_seen_and_a_lesson_about_one_is_kept",
        f"{INJECTED}::test_j6_and_j8_instruction_shaped_memory_is_kept_back",
        f"{COMMANDS}::test_talk_of_rules_and_instructions_is_no_command",
    ],
    "J10": [
        f"{BELIEVED}::test_j10_what_a_server_quotes_of_a_memory_gets_into_no_log_and_no_answer",
        f"{CALLS}::test_neither_words_nor_keys_stand_in_an_error_or_its_traceback",
        f"{EMBEDDERS}::test_a_start_that_fails_says_why_and_never_the_key",
    ],
    "K1": [
        f"{REEMBEDDED}::test_l29_and_k1_the_old_vectors_serve_until_the_new_ones_are_made",
        f"{REEMBEDDED}::test_one_person_is_brought_over_while_another_still_waits",
        f"{REEMBEDDED}::test_k1_nothing_is_lost_where_it_is_killed",
    ],
    "K3": [
        f"{EMBEDDERS}::test_k3_an_embedder_that_is_not_there_at_the_start_stops_no_chat",
        f"{EMBEDDERS}::test_k3_vectors_are_made_up_for_when_the_embedder_returns",
        f"{REEMBEDDED}::test_a_provider_that_was_away_at_the_very_first_start_is_there_once_it_answers",
        f"{REEMBEDDED}::test_k3_without_the_old_model_words_serve_and_it_is_said",
    ],
    "K5": [f"{LOCAL}::test_k5_one_thread_runs_the_model_and_memory_stays_what_it_is"],
    "K6": [f"{LOCAL}::test_k6_a_query_goes_ahead_of_documents_that_wait"],
    "M1": [
        f"{DATES}::test_m1_the_day_of_speaking_counts_not_the_day_of_learning",
        f"{LEARNING}::test_every_extraction_call_has_an_output_limit_and_names_the_day_of_speaking",
        f"{SEGMENTS}::test_l20_a_history_brought_in_bulk_keeps_its_dates_and_costs_few_calls",
    ],
    "M3": [
        f"{BELIEVED}::test_m3_one_kind_of_time_inside_and_a_bad_one_costs_the_date_only",
        f"{DRAFTS}::test_a_bad_date_loses_the_date_and_not_the_fact",
        f"{DRAFTS}::test_a_good_date_is_kept_in_utc",
        "properties/test_store_properties.py::test_times_sort_as_text_as_they_do_as_moments",
    ],
    "M5": [
        f"{DATES}::test_relative_days_are_seen_from_the_day_of_speaking",
        f"{DATES}::test_m5_what_the_person_said_counts_more_than_a_models_today",
        f"{DATES}::test_yesterday_is_the_persons_own",
        f"{QUERY}::test_relative_dates_are_spans_in_the_past",
    ],
    "M6": [
        f"{DATES}::test_m6_what_is_no_date_is_none",
        f"{DATES}::test_m6_a_bad_date_loses_the_date_not_the_fact",
    ],
    "O1": [
        f"{LEARNED}::test_a1_a_greeting_costs_no_extraction_call",
        f"{LEARNING}::test_learning_begins_after_three_turns_without_anybody_asking",
        f"{LEARNING}::test_a_daily_budget_stops_learning_never_chat_and_the_next_day_goes_on",
        f"{LEARNING}::test_o1_calls_and_tokens_are_counted_by_person_and_purpose_also_where_answers_were_of_no_use",
    ],
    "O3": [
        f"{LEARNING}::test_every_extraction_call_has_an_output_limit_and_names_the_day_of_speaking",
        f"{CHAT_MODELS}::test_o3_a_wrong_key_and_an_empty_account_are_not_tried_again",
    ],
    "O4": [
        f"{CHAT_MODELS}::test_o4_only_local_endpoints_and_no_vendors_key_the_proxy_starts_and_learns",
        f"{CHAT_MODELS}::test_o4_what_is_missing_is_named_at_the_start",
        "integration/test_no_other_host.py::test_o4_no_other_host_is_seen_from_start_to_end",
    ],
}


def test_every_line_and_every_case_has_its_entry() -> None:
    assert list(LEDGER) == [f"L{number}" for number in range(1, 61)]
    assert " ".join(CASES) == (
        "A1 A3 A5 A6 A8 A9 A10 A11 A13 A15 A16 A18 A19 B1 B3 B4 B6 B8 B10 B12 B14 D1 D4 D5 D6 D8 D9 "
        "E1 E3 E5 E6 E8 E9 E10 F1 F3 F5 F6 F8 G1 G2 G4 G5 G7 H1 H4 H5 H6 H7 H8 J1 J3 J5 J6 J8 J10 K1 K3 K5 K6 "
        "M1 M3 M5 M6 O1 O3 O4"
    )


@pytest.mark.parametrize("name", [*LEDGER, *CASES])
def test_what_stands_for_it_exists(name: str) -> None:
    stands = {**LEDGER, **CASES}[name]
    if isinstance(stands, str):
        assert stands.endswith(".")
        return
    assert stands
    for test in stands:
        file, _, function = test.partition("::")
        assert function in functions(file), test


@cache
def functions(file: str) -> set[str]:
    """The tests that a file defines."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }
